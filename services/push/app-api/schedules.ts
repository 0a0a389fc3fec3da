import * as m from '#messages/push-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushSchedulesApi, type PushSchedule, type ScheduleForm } from '../../contracts/push/schedules.ts';
import type { Clock } from '../../contracts/service.ts';
import { parseRecurrence } from '../domain/cron/rule.ts';
import { describeRecurrence } from '../domain/cron/description.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { readContent } from '../recurring/content.ts';
import { formatRunError } from '../recurring/run-error.ts';
import type { Schedules } from '../recurring/schedules.ts';
import type { RecurringRow } from '../store/recurring.ts';
import { requireIdentity } from './fields.ts';
import { parseTopic } from './topic-field.ts';

export interface ScheduleRouteDependencies {
  readonly schedules: Schedules;
  readonly clock: Clock;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
}

const success = { ok: true } as const;
const previewCount = 3;

/** Handlers for recurring messages. */
export function scheduleHandlers(dependencies: ScheduleRouteDependencies): readonly ApiHandler[] {
  const { schedules, clock, reserved, messageSizeLimit } = dependencies;
  const validateForm = (form: ScheduleForm): ScheduleForm => {
    const message = form.message.trim();
    if (message === '') throw invalidField('message', m.messageMissing());
    if (Buffer.byteLength(message) >= messageSizeLimit()) {
      throw invalidField('message', m.messageTooLong({ limit: messageSizeLimit() }));
    }
    return { ...form, topic: parseTopic(form.topic, reserved), title: form.title.trim(), message };
  };

  return [
    implement(pushSchedulesApi.list, async ({ identity, query: { before, limit } }) => {
      const { rows, total } = await schedules.list(requireIdentity(identity), before, limit);
      return {
        schedules: rows.map(toPushSchedule),
        next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null),
        total,
      };
    }),

    implement(pushSchedulesApi.preview, ({ query: { rule, zone, starts, ends } }) => {
      const parsed = parseRecurrence({ rule, zone, starts: toSeconds(starts), ends: toSeconds(ends) });
      const next: number[] = [];
      let time = Math.floor(clock.now() / 1000);
      for (let run = parsed.after(time); run !== undefined && next.length < previewCount; run = parsed.after(time)) {
        next.push(run * 1000);
        time = run;
      }
      return { words: describeRecurrence(rule), next };
    }),

    implement(pushSchedulesApi.create, async ({ identity, body }) =>
      toPushSchedule(await schedules.create(requireIdentity(identity), validateForm(body))),
    ),

    implement(pushSchedulesApi.change, async ({ identity, params, body }) =>
      toPushSchedule(await schedules.change(requireIdentity(identity), params['id'] ?? '', validateForm(body))),
    ),

    implement(pushSchedulesApi.enable, async ({ identity, params, body }) =>
      toPushSchedule(await schedules.enable(requireIdentity(identity), params['id'] ?? '', body.enabled)),
    ),

    implement(pushSchedulesApi.run, async ({ identity, params }) => {
      await schedules.run(requireIdentity(identity), params['id'] ?? '');
      return success;
    }),

    implement(pushSchedulesApi.remove, async ({ identity, params }) => {
      await schedules.remove(requireIdentity(identity), params['id'] ?? '');
      return success;
    }),
  ];
}

function toSeconds(toMs: number | undefined): number | undefined {
  return toMs === undefined ? undefined : Math.floor(toMs / 1000);
}

function toPushSchedule({
  id,
  account,
  topic,
  content,
  rule,
  zone,
  missed,
  error,
  ...row
}: RecurringRow): PushSchedule {
  const toMs = (time: number | null): number | null => (time === null ? null : time * 1000);
  return {
    id,
    account,
    topic,
    ...readContent(content),
    rule,
    zone,
    error: formatRunError(error, { account, topic }),
    words: describeRecurrence(rule),
    starts: toMs(row.starts),
    ends: toMs(row.ends),
    next: toMs(row.next),
    last: toMs(row.last),
    missed: missed === 'skip' ? 'skip' : 'once',
    enabled: row.enabled === 1,
  };
}
