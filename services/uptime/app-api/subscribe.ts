import express, { type Request, type Response, type Router } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { StoredPage, StatusPages } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import type { Subscribers } from '../notifications/subscribers.ts';
import { renderAnswer, buildContentSecurityPolicy } from '../wire/status-html.ts';

export interface SubscribeDependencies {
  readonly context: Pick<Context, 'commit' | 'caller' | 'publicUrl'>;
  readonly pages: StatusPages;
  readonly subscribers: Subscribers;
  readonly subscriberMail: SubscriberMail;
}

const confirmationSentText =
  'If this address does not follow the page yet, a mail is on its way to it. The link in it confirms.';

/**
 * Returns the routes for mail subscriptions of status pages. Links in mails open a form and change nothing by GET,
 * because mail scanners follow links.
 */
export function subscribeRoutes(dependencies: SubscribeDependencies): Router {
  const { context, pages, subscribers, subscriberMail } = dependencies;
  const router = express.Router();
  const form = express.urlencoded({ extended: false, limit: '10kb' });
  const getSubscribablePage = (slug: string): StoredPage => {
    const page = pages.find(slug);
    if (page?.config.published === true && page.config.subscribable && subscriberMail.isConfigured) return page;
    throw new Problem('uptime.unknown_page', 404, 'There is nothing to subscribe to here.');
  };
  const sendAnswer = async (
    request: Request<{ slug: string }>,
    response: Response,
    work: () => Promise<Answer> | Answer,
  ): Promise<void> => {
    response
      .setHeader('Content-Security-Policy', buildContentSecurityPolicy({ form: true, script: false }))
      .setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'no-referrer').type('html');
    const back = `/status/${encodeURIComponent(request.params.slug)}`;
    try {
      response.send(renderAnswer({ ...(await work()), back }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      response.status(error.status).send(renderAnswer({ title: 'This did not work', message: error.detail, back }));
    }
  };
  router.post('/status/:slug/subscribe', form, (request, response) =>
    sendAnswer(request, response, async () => {
      const page = getSubscribablePage(request.params.slug);
      const { email } = (request.body ?? {}) as { readonly email?: unknown };
      const base = context.publicUrl(request) ?? '';
      const { remoteAddress } = context.caller(request);
      const subscriber = await subscribers.subscribe(page, email, { remoteAddress, base });
      if (subscriber !== undefined) {
        await context.commit((transaction) => subscriberMail.enqueueConfirmation(transaction, page, subscriber, base));
      }
      return { title: 'Look into your mailbox', message: confirmationSentText };
    }),
  );
  const confirmationPages = {
    confirm: {
      title: 'News by mail',
      message: 'Shall news of this page come to your address?',
      button: 'Yes, send them',
    },
    unsubscribe: {
      title: 'No more mails',
      message: 'Shall news of this page no longer come to your address?',
      button: 'Yes, no more',
    },
  } as const;
  for (const actionName of ['confirm', 'unsubscribe'] as const) {
    router.get(`/status/:slug/${actionName}`, (request: Request<{ slug: string }>, response) =>
      sendAnswer(request, response, () => {
        const { slug } = request.params;
        const { id, token } = subscribers.getByLink(pages.find(slug), request.query['of']);
        const action = `/status/${encodeURIComponent(slug)}/${actionName}?of=${String(id)}.${token}`;
        return { ...confirmationPages[actionName], action };
      }),
    );
    router.post(`/status/:slug/${actionName}`, (request: Request<{ slug: string }>, response) =>
      sendAnswer(request, response, async () => {
        const subscriber = subscribers.getByLink(pages.find(request.params.slug), request.query['of']);
        if (actionName === 'unsubscribe') {
          await subscribers.remove([subscriber.id]);
          return { title: 'Done', message: 'No more mails come to your address.' };
        }
        await subscribers.confirm(subscriber);
        return {
          title: 'Done',
          message: 'You will hear of outages, notes and maintenance. Each mail has a link that ends them.',
        };
      }),
    );
  }
  return router;
}

interface Answer {
  readonly title: string;
  readonly message: string;
  /** Target of the confirmation form. */
  readonly action?: string;
  readonly button?: string;
}
