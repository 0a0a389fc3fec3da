import type { Children, RunningChild } from '../../../services/contracts/children.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { startChild } from './child.ts';
import { Orphans } from './orphans.ts';
import { SupervisedChild } from './supervised.ts';

/** Disposal ends every running program. */
export type ServiceChildren = Children & AsyncDisposable;

/** Registers an address of this host. */
type RegisterAddress = (address: string) => Disposable;

interface ChildrenOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly noteAddress?: RegisterAddress;
  /** Process ids of running programs. */
  readonly pids?: Set<number>;
  readonly platform?: NodeJS.Platform;
}

/**
 * Opens the child processes of a service, after ending those that a killed host left running. `folder` must be used
 * by them only.
 */
export async function openChildren(
  folder: string,
  { clock, log, noteAddress, pids, platform = currentPlatform }: ChildrenOptions,
): Promise<ServiceChildren> {
  const orphans = new Orphans(folder, platform);
  await orphans.end(log);
  const running = new Set<RunningChild>();
  const supervised = new Set<SupervisedChild>();
  const start: Children['start'] = async (order) => {
    const ended = Promise.withResolvers<void>();
    // A program outlives the request that starts it.
    const child = await runOutsideRequests(() => startChild(order, { clock, orphans, ended: ended.resolve, platform }));
    running.add(child);
    pids?.add(child.pid);
    void ended.promise.then(() => {
      running.delete(child);
      pids?.delete(child.pid);
    });
    return child;
  };
  return {
    start,
    registerAddress(child, address) {
      const registration = noteAddress?.(address);
      void child.exited.finally(() => registration?.[Symbol.dispose]());
    },
    supervise(order, options) {
      const isRecorded = runOutsideRequests(() => new SupervisedChild(() => start(order), options, { clock, log }));
      supervised.add(isRecorded);
      return isRecorded;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...supervised].map((each) => each[Symbol.asyncDispose]()));
      await Promise.all([...running].map((child) => child.stop()));
    },
  };
}
