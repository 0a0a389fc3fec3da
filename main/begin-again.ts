/** Told to whoever started the program: it has to be started again. As EX_TEMPFAIL of sysexits. */
const startAgainCode = 75;

/**
 * Begins the program anew in place of this process, with the same arguments, number and output: nothing that still runs
 * in it is left. Where the system cannot do that, as Windows, it ends, for whoever started it to start it again.
 */
export function beginAgain(why: string): never {
  process.stderr.write(`${why} Homeport begins again.\n`);
  // Electron's process is more than Node's.
  if (process.platform !== 'win32' && !('electron' in process.versions)) {
    process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], process.env);
  }
  process.exit(startAgainCode);
}
