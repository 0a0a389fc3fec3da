import * as m from '#messages/home';
import { capitalize } from '../../../../messages/format.ts';
import type { BackupAge } from '../../../../services/contracts/control/backups.ts';
import type { ServiceState } from '../../../../services/contracts/control/api.ts';
import type { JobSummary } from '../../../../services/contracts/jobs.ts';
import type { SuggestedAction } from '../../../../services/contracts/health.ts';
import { formatGivenUp } from '../../state/dead-letters/job-labels.ts';

type DeadJob = JobSummary & { readonly service: string };

/** An item that needs attention, with its remedies. */
export interface AttentionItem {
  readonly key: string;
  /** Name of the service or part it is about. */
  readonly title: string;
  readonly text: string;
  readonly tone: 'bad' | 'warn';
  /** The service, where a restart or another port may help. */
  readonly service?: ServiceState;
  readonly remedies: readonly SuggestedAction[];
}

/** Returns all items that need attention, the most severe first. */
export function getAttentionItems(
  services: readonly ServiceState[],
  inputs: {
    readonly dead: readonly DeadJob[];
    readonly backup: BackupAge | null;
    readonly now: number;
  },
): readonly AttentionItem[] {
  const failed = services.filter(({ state, reason }) => state === 'failed' && reason !== null);
  const degraded = services.filter(({ state, reason }) => state === 'degraded' && reason !== null);
  const up = services.filter(({ state, remedy }) => state === 'up' && remedy !== undefined);
  return [
    ...addDeadJobs(
      [
        ...failed.map((service) => toItem(service, 'bad')),
        ...degraded.map((service) => toItem(service, 'warn')),
        ...up.map((service) => toItem(service, 'warn')),
      ],
      { services, dead: inputs.dead },
    ),
    ...checkBackup(inputs.backup, inputs.now),
  ];
}

function toItem(service: ServiceState, tone: AttentionItem['tone']): AttentionItem {
  const { id, title, reason, detail, remedy } = service;
  const fixableService = reason === null ? {} : { service };
  return {
    key: id,
    title,
    text: toSentence(reason ?? detail),
    tone,
    ...fixableService,
    remedies: remedy ? [remedy] : [],
  };
}

/** Adds failed jobs to the item of their service, so that each service is listed once. */
function addDeadJobs(
  items: readonly AttentionItem[],
  { services, dead }: { readonly services: readonly ServiceState[]; readonly dead: readonly DeadJob[] },
): readonly AttentionItem[] {
  const groups = [...Map.groupBy(dead, ({ service }) => service)].map(([id, jobs]) => ({
    id,
    text: formatGivenUp(jobs.map(({ kind }) => kind)),
    remedy: { label: m.seeTheProblems(), to: '/settings/problems' },
  }));
  const merged = items.map((item) => {
    const group = groups.find(({ id }) => id === item.key);
    if (group === undefined) return item;
    return { ...item, text: `${item.text} ${group.text}`, remedies: [...item.remedies, group.remedy] };
  });
  const separate = groups
    .filter(({ id }) => !items.some(({ key }) => key === id))
    .map(({ id, text, remedy }) => {
      const title = services.find((service) => service.id === id)?.title ?? id;
      return { key: `dead:${id}`, title, text, tone: 'warn' as const, remedies: [remedy] };
    });
  return [...merged, ...separate];
}

function checkBackup(backup: BackupAge | null, now: number): readonly AttentionItem[] {
  if (backup?.isOld !== true) return [];
  const days = backup.newestAt === null ? 0 : Math.floor((now - backup.newestAt) / 86_400_000);
  const text = backup.newestAt === null ? m.noBackupYet() : m.oldBackup({ days });
  return [
    {
      key: 'backup',
      title: m.backup(),
      text,
      tone: 'warn',
      remedies: [{ label: m.makeOne(), to: '/settings/backup' }],
    },
  ];
}

function toSentence(text: string): string {
  const capitalized = capitalize(text);
  return /[.?!]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
