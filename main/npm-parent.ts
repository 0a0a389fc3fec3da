const lookEveryMs = 1000;

/**
 * Calls `gone` once the `npm start` that runs this process has ended. npm passes SIGTERM and SIGINT on; when it is
 * killed, or its terminal closed, nobody tells its child, which would hold the ports and the data folder unseen.
 * Without npm there is nothing to watch: a program that was started by hand may outlive who started it.
 */
export function watchNpm(gone: () => void, environment: NodeJS.ProcessEnv = process.env): Disposable {
  const parent = process.ppid;
  const byNpm = environment['npm_lifecycle_event'] === 'start' && environment['npm_package_name'] === 'homeport';
  const timer = setInterval(() => {
    if (process.ppid === parent && isRunning(parent)) return;
    clearInterval(timer);
    gone();
  }, lookEveryMs).unref();
  if (!byNpm) clearInterval(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Where a process that lost its parent keeps the parent's number, as on Windows. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
