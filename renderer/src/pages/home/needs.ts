import type { BackupAge } from '../../../../services/contracts/control/backups.ts';
import type { ServiceState } from '../../../../services/contracts/control/api.ts';
import type { JobSummary } from '../../../../services/contracts/jobs.ts';
import type { SuggestedAction } from '../../../../services/contracts/health.ts';
import { countOf } from '../dead-letters/work.ts';

type DeadJob = JobSummary & { readonly service: string };

/** Something that waits for a person, with what they can do about it. */
export interface Need {
  readonly key: string;
  /** Whose matter it is. */
  readonly title: string;
  readonly text: string;
  readonly tone: 'bad' | 'warn';
  /** The service that can be started anew or given another port, where that is what helps. */
  readonly service?: ServiceState;
  readonly remedies: readonly SuggestedAction[];
}

/** All that needs a person, the worst first. */
export function needsOf(
  services: readonly ServiceState[],
  given: {
    readonly dead: readonly DeadJob[];
    readonly backup: BackupAge | null;
    readonly now: number;
  },
): readonly Need[] {
  const failed = services.filter(({ state, reason }) => state === 'failed' && reason !== null);
  const degraded = services.filter(({ state, reason }) => state === 'degraded' && reason !== null);
  const up = services.filter(({ state, remedy }) => state === 'up' && remedy !== undefined);
  return [
    ...withGivenUp(
      [
        ...failed.map((service) => ofService(service, 'bad')),
        ...degraded.map((service) => ofService(service, 'warn')),
        ...up.map((service) => ofService(service, 'warn')),
      ],
      { services, dead: given.dead },
    ),
    ...oldBackup(given.backup, given.now),
  ];
}

function ofService(service: ServiceState, tone: Need['tone']): Need {
  const { id, title, reason, detail, remedy } = service;
  const mendable = reason === null ? {} : { service };
  return { key: id, title, text: sentenceOf(reason ?? detail), tone, ...mendable, remedies: remedy ? [remedy] : [] };
}

/** What was given up, in the line of its service where there is one: a service needs somebody once. */
function withGivenUp(
  needs: readonly Need[],
  { services, dead }: { readonly services: readonly ServiceState[]; readonly dead: readonly DeadJob[] },
): readonly Need[] {
  const groups = [...Map.groupBy(dead, ({ service }) => service)].map(([id, jobs]) => ({
    id,
    text: `${countOf(jobs.map(({ kind }) => kind))} given up.`,
    remedy: { label: 'See the problems', to: '/settings/problems' },
  }));
  const joined = needs.map((need) => {
    const group = groups.find(({ id }) => id === need.key);
    if (group === undefined) return need;
    return { ...need, text: `${need.text} ${group.text}`, remedies: [...need.remedies, group.remedy] };
  });
  const alone = groups
    .filter(({ id }) => !needs.some(({ key }) => key === id))
    .map(({ id, text, remedy }) => {
      const title = services.find((service) => service.id === id)?.title ?? id;
      return { key: `dead:${id}`, title, text, tone: 'warn' as const, remedies: [remedy] };
    });
  return [...joined, ...alone];
}

function oldBackup(backup: BackupAge | null, now: number): readonly Need[] {
  if (backup?.isOld !== true) return [];
  const days = backup.newestAt === null ? 0 : Math.floor((now - backup.newestAt) / 86_400_000);
  const text = backup.newestAt === null ? 'There is none yet.' : `The last one is ${String(days)} days old.`;
  return [
    { key: 'backup', title: 'Backup', text, tone: 'warn', remedies: [{ label: 'Make one', to: '/settings/backup' }] },
  ];
}

function sentenceOf(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(begun) ? begun : `${begun}.`;
}
