import { z } from 'zod';
import { AccountName } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { RetentionRule } from '../../contracts/push/retention.ts';
import { ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Context, Service } from '../../contracts/service.ts';
import { readRule } from '../domain/cron/rule.ts';
import { contentText, readContent } from '../recurring/content.ts';
import { RecurringStore, type RecurringRow } from '../store/recurring.ts';
import { RetentionStore } from '../store/retention.ts';

const Schedule = ScheduleForm.extend({ id: z.string().regex(/^[A-Za-z0-9]{1,64}$/), account: AccountName });
type Schedule = z.infer<typeof Schedule>;

/** What an export holds: schedules with whose they are, and the rules about how long messages are kept. */
const Portable = z.object({
  schedules: z.array(Schedule).default([]),
  retention: z.array(RetentionRule).default([]),
});

const page = 500;

/** Export and import of schedules and retention rules; there are no secrets in them. */
export function createPortable({
  clock,
  commit,
  db,
}: Pick<Context, 'clock' | 'commit' | 'db'>): NonNullable<Service['portable']> {
  const recurring = new RecurringStore(db);
  const retention = new RetentionStore(db);

  const allRows = async (): Promise<readonly RecurringRow[]> => {
    const rows: RecurringRow[] = [];
    for (let before: number | undefined; ;) {
      const some = await recurring.list(undefined, before, page);
      rows.push(...some);
      before = some.at(-1)?.seq;
      if (some.length < page) return rows.toReversed();
    }
  };

  return {
    async export() {
      const [rows, rules] = [await allRows(), await retention.rules()];
      return {
        schedules: rows.map(formOf),
        retention: rules.map(({ pattern, seconds, most }) => ({ topic: pattern, seconds, most })),
      };
    },
    async import(data) {
      const parsed = Portable.safeParse(data);
      if (!parsed.success) {
        const fields = Object.fromEntries(parsed.error.issues.map(({ path, message }) => [path.join('.'), message]));
        throw new Problem('push.bad_import', 400, 'The schedules and rules do not have the form of an export.', {
          fields,
        });
      }
      const now = Math.floor(clock.now() / 1000);
      const rows = parsed.data.schedules.map((schedule) => rowOf(schedule, now));
      const rules = parsed.data.retention.map(({ topic, seconds, most }) => ({ pattern: topic, seconds, most }));
      await commit(async (transaction) => {
        await recurring.removeAll(transaction);
        for (const row of rows) await recurring.insert(transaction, row);
        await retention.replace(transaction, rules, clock.now());
      });
    },
  };
}

function formOf({ id, account, topic, content, rule, zone, starts, ends, missed, enabled }: RecurringRow): Schedule {
  const ms = (time: number | null): number | null => (time === null ? null : time * 1000);
  return {
    ...{ id, account, topic, ...readContent(content), rule, zone, starts: ms(starts), ends: ms(ends) },
    missed: missed === 'skip' ? 'skip' : 'once',
    enabled: enabled === 1,
  };
}

/** @throws Problem for a rule that cannot be read. What is over may come along: it stays over. */
function rowOf(schedule: Schedule, now: number): Omit<RecurringRow, 'seq'> {
  const { id, account, topic, rule, zone, missed, enabled } = schedule;
  const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));
  const [starts, ends] = [seconds(schedule.starts), seconds(schedule.ends)];
  const next = readRule({ rule, zone, starts, ends }).after(now) ?? null;
  return {
    ...{ id, account, topic, content: contentText(schedule), rule, zone, starts, ends, missed },
    ...{ enabled: enabled ? 1 : 0, next: enabled ? next : null, last: null, trouble: '' },
  };
}
