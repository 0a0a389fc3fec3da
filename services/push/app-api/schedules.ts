import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushSchedulesApi, type PushSchedule, type ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Clock } from '../../contracts/service.ts';
import { readRule } from '../domain/cron/rule.ts';
import { ruleWords } from '../domain/cron/words.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { readContent } from '../recurring/content.ts';
import type { Schedules } from '../recurring/schedules.ts';
import type { RecurringRow } from '../store/recurring.ts';
import { requireIdentity } from './fields.ts';
import { topicOf } from './topic-field.ts';

export interface ScheduleRouteParts {
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
}

const done = { ok: true } as const;
const previewed = 3;

/** Our own API around messages that go out again and again. */
export function scheduleHandlers(parts: ScheduleRouteParts): readonly ApiHandler[] {
  const { schedules, clock, reserved, messageSizeLimit } = parts;
  const checked = (form: ScheduleForm): ScheduleForm => {
    const message = form.message.trim();
    if (message === '') throw invalidField('message', 'Write a message.');
    if (Buffer.byteLength(message) >= messageSizeLimit()) {
      throw invalidField('message', `The message is too long: ${String(messageSizeLimit())} bytes at most.`);
    }
    return { ...form, topic: topicOf(form.topic, reserved), title: form.title.trim(), message };
  };

  return [
    implement(pushSchedulesApi.list, async ({ identity, query: { before, limit } }) => {
      const { rows, total } = await schedules.list(requireIdentity(identity), before, limit);
      return { schedules: rows.map(shown), next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null), total };
    }),

    implement(pushSchedulesApi.preview, ({ query: { rule, zone, starts, ends } }) => {
      const read = readRule({ rule, zone, starts: seconds(starts), ends: seconds(ends) });
      const next: number[] = [];
      let time = Math.floor(clock.now() / 1000);
      for (let found = read.after(time); found !== undefined && next.length < previewed; found = read.after(time)) {
        next.push(found * 1000);
        time = found;
      }
      return { words: ruleWords(rule), next };
    }),

    implement(pushSchedulesApi.create, async ({ identity, body }) =>
      shown(await schedules.create(requireIdentity(identity), checked(body))),
    ),

    implement(pushSchedulesApi.change, async ({ identity, params, body }) =>
      shown(await schedules.change(requireIdentity(identity), params['id'] ?? '', checked(body))),
    ),

    implement(pushSchedulesApi.enable, async ({ identity, params, body }) =>
      shown(await schedules.enable(requireIdentity(identity), params['id'] ?? '', body.enabled)),
    ),

    implement(pushSchedulesApi.run, async ({ identity, params }) => {
      await schedules.run(requireIdentity(identity), params['id'] ?? '');
      return done;
    }),

    implement(pushSchedulesApi.remove, async ({ identity, params }) => {
      await schedules.remove(requireIdentity(identity), params['id'] ?? '');
      return done;
    }),
  ];
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms / 1000);
}

function shown({ id, account, topic, content, rule, zone, missed, trouble, ...row }: RecurringRow): PushSchedule {
  const ms = (time: number | null): number | null => (time === null ? null : time * 1000);
  return {
    ...{ id, account, topic, ...readContent(content), rule, zone, trouble, words: ruleWords(rule) },
    ...{ starts: ms(row.starts), ends: ms(row.ends), next: ms(row.next), last: ms(row.last) },
    missed: missed === 'skip' ? 'skip' : 'once',
    enabled: row.enabled === 1,
  };
}
