/**
 * Operating system of this process. Functions that depend on the system take it as a parameter, so that tests on one
 * system cover all of them.
 */
export const currentPlatform: NodeJS.Platform = process.platform;
