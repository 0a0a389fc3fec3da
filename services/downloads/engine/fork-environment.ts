import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { crashesAfterFork } from '../../kit/platform/process-tree.ts';

/**
 * Returns the environment of a Python that forks. On macOS a forked process crashes when it asks the system for proxies
 * (https://github.com/python/cpython/issues/105912). With a proxy variable Python asks only the environment.
 */
export function getForkEnvironment(
  platform: NodeJS.Platform = currentPlatform,
  environment: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string>> {
  const hasProxy = Object.keys(environment).some(
    (name) => /^(?:https?|all|no)_proxy$/i.test(name) && environment[name] !== '',
  );
  return crashesAfterFork(platform) && !hasProxy ? { no_proxy: '*' } : {};
}
