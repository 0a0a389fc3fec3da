import * as m from '#messages/uptime-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { statusPagesApi } from '../../contracts/uptime/status-pages.ts';
import { Problem } from '../../contracts/problem.ts';
import type { NoteChange, StatusPages } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import type { Subscribers } from '../notifications/subscribers.ts';

const success = { ok: true } as const;

/** Returns the handlers for status pages. */
export function createStatusPageHandlers(
  pages: StatusPages,
  subscribers: Subscribers,
  mail: Pick<SubscriberMail, 'isConfigured'>,
): readonly ApiHandler[] {
  const page = (params: Readonly<Record<string, string>>) => pages.get(params['slug'] ?? '');
  return [
    implement(statusPagesApi.list, async () => ({
      items: await Promise.all(pages.all().map((one) => pages.withNotes(one))),
    })),
    implement(statusPagesApi.add, async ({ body: { slug, title } }) => pages.withNotes(await pages.add(slug, title))),
    implement(statusPagesApi.one, ({ params }) => pages.withNotes(page(params))),
    implement(statusPagesApi.change, async ({ params, body: { publicGroupList, password, ...config } }) =>
      pages.withNotes(await pages.change(params['slug'] ?? '', config, publicGroupList, password)),
    ),
    implement(statusPagesApi.remove, async ({ params }) => {
      await pages.remove(params['slug'] ?? '');
      return success;
    }),
    implement(statusPagesApi.subscribers, ({ params }) => ({
      mail: mail.isConfigured,
      items: subscribers
        .listForPage(page(params).id)
        .map(({ id, address, confirmed, createdAt }) => ({ id, address, confirmed, createdAt })),
    })),
    implement(statusPagesApi.removeSubscriber, async ({ params }) => {
      const subscriber = subscribers.listForPage(page(params).id).find(({ id }) => id === Number(params['id']));
      if (subscriber === undefined) throw new Problem('uptime.unknown_subscriber', 404, m.subscriberNotFound());
      await subscribers.remove([subscriber.id]);
      return success;
    }),
    implement(statusPagesApi.addNote, ({ params, body }) => pages.addNote(page(params), body)),
    implement(statusPagesApi.changeNote, ({ params, body }) =>
      pages.changeNote(page(params), Number(params['id']), withoutUndefined(body)),
    ),
    implement(statusPagesApi.removeNote, async ({ params }) => {
      await pages.removeNote(page(params), Number(params['id']));
      return success;
    }),
  ];
}

function withoutUndefined(change: object): NoteChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
