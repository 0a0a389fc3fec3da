import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyApi } from '../../contracts/notify-api.ts';
import { Problem } from '../../contracts/problem.ts';
import { deliver } from '../deliver.ts';
import { destinationId } from '../destinations/catalogue.ts';
import type { History } from '../store/history.ts';
import type { ApiParts } from './api.ts';

const done = { ok: true } as const;
/** Given-up deliveries that are looked through for the one that is asked for. */
const mostDead = 5000;

/** What was sent, what became of it, and another try. */
export function noticeHandlers(parts: ApiParts, history: History): readonly ApiHandler[] {
  const { activity, aggregator, context, notices } = parts;
  const { jobs } = context;
  const dead = async (): Promise<ReadonlyMap<string, string>> => {
    const list = await jobs.list({ state: 'dead', kind: deliver.name, limit: mostDead });
    return new Map(list.map(({ key, id }) => [key ?? '', id]));
  };
  const jobOf = async ({ notice, destination }: { notice: string; destination: string }): Promise<string> => {
    const id = (await dead()).get(`${notice}:${destination}`);
    if (id !== undefined) return id;
    throw new Problem('notify.not_given_up', 404, 'This delivery is not among the given-up ones any more.');
  };
  return [
    implement(notifyApi.notices, async ({ query }) => {
      const [list, given, waiting] = await Promise.all([history.list(query), dead(), notices.countWaiting()]);
      return {
        notices: list.map((notice) => ({
          ...notice,
          deliveries: notice.deliveries.map((each) => ({
            ...each,
            givenUp: each.state === 'dead' && given.has(`${notice.id}:${each.destination}`),
          })),
        })),
        givenUp: given.size,
        waiting,
      };
    }),
    implement(notifyApi.resend, async ({ params }) => {
      const past = await history.find(params['id'] ?? '');
      if (past === undefined) throw new Problem('notify.unknown_notice', 404, 'This notice is not kept any more.');
      const known = (await aggregator.find(past.configuration))?.entries ?? [];
      const again = known
        .flatMap(({ destination, ...rest }) =>
          (destination.parts ?? [destination]).map((part) => ({ ...rest, destination: part })),
        )
        .filter(({ destination }) => past.destinations.includes(destinationId(destination)));
      if (again.length === 0) {
        throw new Problem('notify.no_destination', 409, 'Its key has none of these destinations any more.');
      }
      const id = params['id'] ?? '';
      const kept = await parts.attachments.of(id);
      const copies = (await Promise.all(kept.map((each) => parts.folder.copy(each)))).filter(
        (each) => each !== undefined,
      );
      let isTaken = false;
      try {
        isTaken = (await aggregator.post(past.configuration, again, past.notice, { files: copies })).length > 0;
      } finally {
        if (!isTaken) await parts.folder.remove(copies.map(({ file }) => file));
      }
      return { destinations: again.length, filesGone: Math.max(0, past.files - copies.length) };
    }),
    implement(notifyApi.retry, async ({ body }) => {
      await jobs.retry(await jobOf(body));
      activity.touch();
      return done;
    }),
    implement(notifyApi.retryAll, async () => {
      const ids = [...(await dead()).values()];
      const retried = await Promise.all(ids.map((id) => jobs.retry(id)));
      activity.touch();
      return { retried: retried.filter(Boolean).length };
    }),
    implement(notifyApi.drop, async ({ body }) => {
      await jobs.drop(await jobOf(body));
      context.log.info('given-up notification dropped', { notice: body.notice });
      activity.touch();
      return done;
    }),
  ];
}
