import express, { type Request, type Response, type Router } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { KnownPage, StatusPages } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import type { Subscribers } from '../notifications/subscribers.ts';
import { answerHtml, pagePolicy } from '../wire/status-html.ts';

export interface SubscribeParts {
  readonly context: Pick<Context, 'commit' | 'caller' | 'publicUrl'>;
  readonly pages: StatusPages;
  readonly subscribers: Subscribers;
  readonly subscriberMail: SubscriberMail;
}

const sent = 'If this address does not follow the page yet, a mail is on its way to it. The link in it confirms.';

/**
 * Returns the routes for mail subscriptions of status pages. Links in mails open a form and change nothing by GET,
 * because mail scanners follow links.
 */
export function subscribeRoutes(parts: SubscribeParts): Router {
  const { context, pages, subscribers, subscriberMail } = parts;
  const router = express.Router();
  const form = express.urlencoded({ extended: false, limit: '10kb' });
  const open = (slug: string): KnownPage => {
    const page = pages.find(slug);
    if (page?.config.published === true && page.config.subscribable && subscriberMail.isSet) return page;
    throw new Problem('uptime.unknown_page', 404, 'There is nothing to subscribe to here.');
  };
  const answered = async (
    request: Request<{ slug: string }>,
    response: Response,
    work: () => Promise<Answer> | Answer,
  ): Promise<void> => {
    response.setHeader('Content-Security-Policy', pagePolicy(true)).setHeader('Cache-Control', 'no-store');
    response.setHeader('Referrer-Policy', 'no-referrer').type('html');
    const back = `/status/${encodeURIComponent(request.params.slug)}`;
    try {
      response.send(answerHtml({ ...(await work()), back }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      response.status(error.status).send(answerHtml({ title: 'This did not work', words: error.detail, back }));
    }
  };
  router.post('/status/:slug/subscribe', form, (request, response) =>
    answered(request, response, async () => {
      const page = open(request.params.slug);
      const { email } = (request.body ?? {}) as { readonly email?: unknown };
      const base = context.publicUrl(request) ?? '';
      const { remoteAddress } = context.caller(request);
      const subscriber = await subscribers.subscribe(page, email, { remoteAddress, base });
      if (subscriber !== undefined) {
        await context.commit((transaction) => subscriberMail.ask(transaction, page, subscriber, base));
      }
      return { title: 'Look into your mailbox', words: sent };
    }),
  );
  const questions = {
    confirm: {
      title: 'News by mail',
      words: 'Shall news of this page come to your address?',
      button: 'Yes, send them',
    },
    unsubscribe: {
      title: 'No more mails',
      words: 'Shall news of this page no longer come to your address?',
      button: 'Yes, no more',
    },
  } as const;
  for (const what of ['confirm', 'unsubscribe'] as const) {
    router.get(`/status/:slug/${what}`, (request: Request<{ slug: string }>, response) =>
      answered(request, response, () => {
        const { slug } = request.params;
        const { id, token } = subscribers.byLink(pages.find(slug), request.query['of']);
        const action = `/status/${encodeURIComponent(slug)}/${what}?of=${String(id)}.${token}`;
        return { ...questions[what], action };
      }),
    );
    router.post(`/status/:slug/${what}`, (request: Request<{ slug: string }>, response) =>
      answered(request, response, async () => {
        const subscriber = subscribers.byLink(pages.find(request.params.slug), request.query['of']);
        if (what === 'unsubscribe') {
          await subscribers.remove([subscriber.id]);
          return { title: 'Done', words: 'No more mails come to your address.' };
        }
        await subscribers.confirm(subscriber);
        return {
          title: 'Done',
          words: 'You will hear of outages, notes and maintenance. Each mail has a link that ends them.',
        };
      }),
    );
  }
  return router;
}

interface Answer {
  readonly title: string;
  readonly words: string;
  /** Target of the confirmation form. */
  readonly action?: string;
  readonly button?: string;
}
