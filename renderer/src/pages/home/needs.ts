import type { BackupAge, ServiceState } from '../../../../services/contracts/control/api.ts';
import type { JobSummary } from '../../../../services/contracts/jobs.ts';
import type { Step } from '../../../../services/contracts/service.ts';

/** Something that waits for a person, with what they can do about it. */
export interface Need {
  readonly key: string;
  /** Whose matter it is. */
  readonly title: string;
  readonly text: string;
  readonly tone: 'bad' | 'warn';
  /** The service that can be started anew or given another port, where that is what helps. */
  readonly service?: ServiceState;
  readonly remedy?: Step;
}

/** All that needs a person, the worst first. */
export function needsOf(
  services: readonly ServiceState[],
  given: {
    readonly dead: readonly (JobSummary & { readonly service: string })[];
    readonly backup: BackupAge | null;
    readonly now: number;
  },
): readonly Need[] {
  const failed = services.filter(({ state, reason }) => state === 'failed' && reason !== null);
  const degraded = services.filter(({ state, reason }) => state === 'degraded' && reason !== null);
  const up = services.filter(({ state, remedy }) => state === 'up' && remedy !== undefined);
  return [
    ...failed.map((service) => ofService(service, 'bad')),
    ...degraded.map((service) => ofService(service, 'warn')),
    ...up.map((service) => ofService(service, 'warn')),
    ...givenUp(services, given.dead),
    ...oldBackup(given.backup, given.now),
  ];
}

function ofService(service: ServiceState, tone: Need['tone']): Need {
  const { id, title, reason, detail, remedy } = service;
  const mendable = reason === null ? {} : { service };
  return { key: id, title, text: sentenceOf(reason ?? detail), tone, ...mendable, ...(remedy ? { remedy } : {}) };
}

/** One line a service, however many there are of it. */
function givenUp(services: readonly ServiceState[], dead: readonly { readonly service: string }[]): readonly Need[] {
  const counts = Map.groupBy(dead, ({ service }) => service);
  return [...counts].map(([id, { length }]) => ({
    key: `dead:${id}`,
    title: services.find((service) => service.id === id)?.title ?? id,
    text: `${length === 1 ? 'One piece of work was' : `${String(length)} pieces of work were`} given up.`,
    tone: 'warn',
    remedy: { label: 'See why, or try again', to: '/settings/problems' },
  }));
}

function oldBackup(backup: BackupAge | null, now: number): readonly Need[] {
  if (backup?.isOld !== true) return [];
  const days = backup.newestAt === null ? 0 : Math.floor((now - backup.newestAt) / 86_400_000);
  const text = backup.newestAt === null ? 'There is none yet.' : `The last one is ${String(days)} days old.`;
  return [
    { key: 'backup', title: 'Backup', text, tone: 'warn', remedy: { label: 'Make one', to: '/settings/backup' } },
  ];
}

function sentenceOf(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
