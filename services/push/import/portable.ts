import * as m from '#messages/push-problems';
import { z } from 'zod';
import { AccountName } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { RetentionRule } from '../../contracts/push/retention.ts';
import { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Context, Service } from '../../contracts/service.ts';
import { parseRecurrence } from '../domain/cron/rule.ts';
import { serializeContent, readContent } from '../recurring/content.ts';
import { RecurringStore, type RecurringRow } from '../store/recurring.ts';
import { RetentionStore } from '../store/retention.ts';

const Schedule = ScheduleForm.extend({ id: z.string().regex(/^[A-Za-z0-9]{1,64}$/), account: AccountName });
type Schedule = z.infer<typeof Schedule>;

/** Exported data: schedules with their accounts, and retention rules. */
const Portable = z.object({
  schedules: z.array(Schedule).default([]),
  retention: z.array(RetentionRule).default([]),
});

const pageSize = 500;

/** Export and import of schedules and retention rules, which contain no secrets. */
export function createPortable({
  clock,
  commit,
  db,
}: Pick<Context, 'clock' | 'commit' | 'db'>): NonNullable<Service['portable']> {
  const recurring = new RecurringStore(db);
  const retention = new RetentionStore(db);

  const readAll = async (): Promise<readonly RecurringRow[]> => {
    const rows: RecurringRow[] = [];
    for (let before: number | undefined; ;) {
      const chunk = await recurring.list(undefined, before, pageSize);
      rows.push(...chunk);
      before = chunk.at(-1)?.seq;
      if (chunk.length < pageSize) return rows.toReversed();
    }
  };

  return {
    async export() {
      const [rows, rules] = [await readAll(), await retention.rules()];
      return {
        schedules: rows.map(toSchedule),
        retention: rules.map(({ pattern, seconds: toSeconds, most }) => ({ topic: pattern, seconds: toSeconds, most })),
      };
    },
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw new Problem('push.bad_import', 400, m.exportInvalid(), {
          fields,
        });
      }
      const now = Math.floor(clock.now() / 1000);
      const rows = parsed.data.schedules.map((schedule) => toRow(schedule, now));
      const rules = parsed.data.retention.map(({ topic, seconds: toSeconds, most }) => ({
        pattern: topic,
        seconds: toSeconds,
        most,
      }));
      await commit(async (transaction) => {
        await recurring.removeAll(transaction);
        for (const row of rows) await recurring.insert(transaction, row);
        await retention.replace(transaction, rules, clock.now());
      });
    },
  };
}

function toSchedule({
  id,
  account,
  topic,
  content,
  rule,
  zone,
  starts,
  ends,
  missed,
  enabled,
}: RecurringRow): Schedule {
  const toMs = (time: number | null): number | null => (time === null ? null : time * 1000);
  return {
    id,
    account,
    topic,
    ...readContent(content),
    rule,
    zone,
    starts: toMs(starts),
    ends: toMs(ends),
    missed: missed === 'skip' ? 'skip' : 'once',
    enabled: enabled === 1,
  };
}

/**
 * Converts a schedule to a row. Schedules that have ended stay ended.
 *
 * @throws Problem for an invalid rule
 */
function toRow(schedule: Schedule, now: number): Omit<RecurringRow, 'seq'> {
  const { id, account, topic, rule, zone, missed, enabled } = schedule;
  const toSeconds = (toMs: number | null): number | null => (toMs === null ? null : Math.floor(toMs / 1000));
  const [starts, ends] = [toSeconds(schedule.starts), toSeconds(schedule.ends)];
  const next = parseRecurrence({ rule, zone, starts, ends }).after(now) ?? null;
  return {
    id,
    account,
    topic,
    content: serializeContent(schedule),
    rule,
    zone,
    starts,
    ends,
    missed,
    enabled: enabled ? 1 : 0,
    next: enabled ? next : null,
    last: null,
    error: '',
  };
}
