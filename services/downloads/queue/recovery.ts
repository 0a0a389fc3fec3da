import { sep } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { removeCopies } from '../files/file-delivery.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { findProcessState, isRunning } from '../../kit/platform/process-identity.ts';
import { childrenEndWithParent, signalTree } from '../../kit/platform/process-tree.ts';
import type { Folders } from '../files/folders.ts';
import type { LiveUpdates } from '../reporting/live-updates.ts';
import type { ActiveRuns } from '../run/active-runs.ts';
import { DownloadStore, type RunOwner } from '../store/store.ts';

interface Dependencies {
  readonly context: Context;
  readonly folders: Folders;
  readonly live: LiveUpdates;
  readonly runs: Pick<ActiveRuns, 'has'>;
}

/**
 * Requeues the downloads of a dead host at their former positions after their extractors ended. `self` is this process;
 * at its start it has no runs yet.
 */
export async function recover(
  { context, live, runs }: Dependencies,
  self: RunOwner,
  starting: boolean,
  platform: NodeJS.Platform = currentPlatform,
): Promise<void> {
  const rows = await new DownloadStore(context.db).running();
  const hosts = rows.flatMap(({ owner }) => owner?.host ?? []);
  const ended = hosts.length === 0 ? new Set() : await context.leases.findEnded(hosts);
  for (const { item, owner, leaseUntil, child } of rows) {
    const hasEnded = !context.singleHost && owner?.host !== undefined && ended.has(owner.host);
    const isLocal = owner === undefined || owner.machine === self.machine;
    const isOwn = isLocal && owner?.process === self.process && (owner.host === undefined || owner.host === self.host);
    // Hosts that share the tables may have different times, so their leases decide.
    const hasLease = context.singleHost || owner?.host === undefined ? leaseUntil > context.clock.now() : !hasEnded;
    // Rows of this process without a run are new, or could not be written when their run ended: the lease decides. Rows
    // with a run are alive, even when this computer slept past their lease.
    const isAlive = isOwn
      ? runs.has(item.uid) || (!starting && leaseUntil > context.clock.now())
      : isLocal
        ? !hasEnded && (await isOwnerRunning(owner, hasLease, platform))
        : hasLease;
    if (isAlive) continue;
    if (isLocal && child !== null) await endChild(child, platform);
    context.log.info('download requeued', { uid: item.uid, formerState: item.state });
    const released = await context.commit(async (db) => await new DownloadStore(db).release(item.uid));
    if (released !== undefined) live.changed(released);
  }
}

/**
 * Removes the work folders, and the copies in the download folder, that a crash left of downloads that no longer need
 * them.
 */
export async function removeLeftovers({ context, folders }: Dependencies): Promise<void> {
  const store = new DownloadStore(context.db);
  await folders.removeUnneeded(async (uid) => {
    const item = await store.find(uid);
    if (item === undefined) return false;
    if (item.state !== 'finished') return true;
    if (item.filename !== null) await removeCopies([folders.getRoot(item.order), item.filename].join(sep), uid);
    return false;
  });
}

/** The lease decides where the system does not report whether the process is still the same. */
async function isOwnerRunning(
  owner: RunOwner | undefined,
  hasLease: boolean,
  platform: NodeJS.Platform,
): Promise<boolean> {
  if (owner === undefined) return false;
  const state = await findProcessState(owner.process, platform);
  return state === 'unknown' ? hasLease : state === 'running';
}

async function endChild(identity: string, platform: NodeJS.Platform): Promise<void> {
  if (childrenEndWithParent(platform) || !(await isRunning(identity, platform))) return;
  signalTree(Number.parseInt(identity, 10), 'SIGKILL', platform);
}
