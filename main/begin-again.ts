/** Exit code that requests a restart from the parent process, like EX_TEMPFAIL of sysexits. */
const restartExitCode = 75;

/**
 * Replaces this process by a new instance of the program with the same arguments, process id and output, so that no
 * running work remains. Where the system does not support it, such as on Windows, the process exits and its parent
 * restarts it.
 */
export function restartProcess(reason: string): never {
  process.stderr.write(`${reason} Homeport begins again.\n`);
  // Electron's process cannot be replaced.
  if (process.platform !== 'win32' && !('electron' in process.versions)) {
    process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], process.env);
  }
  process.exit(restartExitCode);
}
