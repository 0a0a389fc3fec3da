import type { Children, RunningChild } from '../../../services/contracts/children.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import { startChild } from './child.ts';
import { Orphans } from './orphans.ts';
import { SupervisedChild } from './supervised.ts';

/** Disposal ends every program that still runs. */
export type ServiceChildren = Children & AsyncDisposable;

/** Adds to what the host knows to be its own. */
type NoteAddress = (address: string) => Disposable;

interface ChildrenOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly noteAddress?: NoteAddress;
  /** Holds the process ids of running programs. */
  readonly pids?: Set<number>;
}

/** Opens a service's programs: what a host that was killed has left running is ended first. `folder` is theirs alone. */
export async function openChildren(
  folder: string,
  { clock, log, noteAddress, pids }: ChildrenOptions,
): Promise<ServiceChildren> {
  const orphans = new Orphans(folder);
  await orphans.end(log);
  const running = new Set<RunningChild>();
  const supervised = new Set<SupervisedChild>();
  const start: Children['start'] = async (order) => {
    const ended = Promise.withResolvers<void>();
    const child = await startChild(order, { clock, orphans, ended: ended.resolve });
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
      const noted = noteAddress?.(address);
      void child.exited.finally(() => noted?.[Symbol.dispose]());
    },
    supervise(order, options) {
      const kept = new SupervisedChild(() => start(order), options, { clock, log });
      supervised.add(kept);
      return kept;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...supervised].map((each) => each[Symbol.asyncDispose]()));
      await Promise.all([...running].map((child) => child.stop()));
    },
  };
}
