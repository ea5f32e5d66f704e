# A wheel from a build folder that has the Python module already: nothing is compiled again.
file(GLOB module ${AICF_PREBUILT}/python/aicf/_native*)
if(NOT module)
  message(FATAL_ERROR "AICF_PREBUILT: ${AICF_PREBUILT} has no python/aicf/_native; build it with "
                      "AICF_BUILD_PYTHON=ON")
endif()
add_custom_target(aicf_python_stub)
file(GLOB libraries ${AICF_PREBUILT}/python/aicf/*.so.*)
install(FILES ${module} ${libraries} DESTINATION aicf COMPONENT python)
