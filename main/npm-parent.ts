import { isProcessAlive } from '../services/kit/platform/process-identity.ts';

const pollIntervalMs = 1000;

/**
 * Calls `gone` once the `npm start` that runs this process has ended. npm forwards SIGTERM and SIGINT; when it is
 * killed, or its terminal is closed, its child would continue unnoticed with the ports and the data folder. Does
 * nothing without npm, since a program that was started manually may outlive its parent.
 */
export function watchNpm(onParentExit: () => void, environment: NodeJS.ProcessEnv = process.env): Disposable {
  const parent = process.ppid;
  const byNpm = environment['npm_lifecycle_event'] === 'start' && environment['npm_package_name'] === 'homeport';
  const timer = setInterval(() => {
    // On some systems, such as Windows, an orphan retains the pid of its parent.
    if (process.ppid === parent && isProcessAlive(parent)) return;
    clearInterval(timer);
    onParentExit();
  }, pollIntervalMs).unref();
  if (!byNpm) clearInterval(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
