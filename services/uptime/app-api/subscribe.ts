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

interface Answer {
  readonly title: string;
  readonly message: string;
  /** Target of the confirmation form. */
  readonly action?: string;
  readonly button?: string;
}

type PageRequest = Request<{ slug: string }>;

/**
 * Returns the routes for mail subscriptions of status pages. Links in mails open a form and change nothing by GET,
 * because mail scanners follow links.
 */
export function subscribeRoutes(dependencies: SubscribeDependencies): Router {
  const router = express.Router();
  const form = express.urlencoded({ extended: false, limit: '10kb' });
  router.post('/status/:slug/subscribe', form, (request, response) =>
    sendAnswer(request, response, () => subscribe(dependencies, request)),
  );
  for (const action of ['confirm', 'unsubscribe'] as const) {
    router.get(`/status/:slug/${action}`, (request: PageRequest, response) =>
      sendAnswer(request, response, () => buildConfirmationForm(dependencies, request, action)),
    );
  }
  router.post('/status/:slug/confirm', (request: PageRequest, response) =>
    sendAnswer(request, response, () => confirmSubscription(dependencies, request)),
  );
  router.post('/status/:slug/unsubscribe', (request: PageRequest, response) =>
    sendAnswer(request, response, () => removeSubscription(dependencies, request)),
  );
  return router;
}

/** Sends the page of an answer. Problems are rendered on the same page. */
async function sendAnswer(
  request: PageRequest,
  response: Response,
  work: () => Promise<Answer> | Answer,
): Promise<void> {
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
}

/** @throws Problem `uptime.unknown_page` (404) */
function getSubscribablePage({ pages, subscriberMail }: SubscribeDependencies, slug: string): StoredPage {
  const page = pages.find(slug);
  if (page?.config.published === true && page.config.subscribable && subscriberMail.isConfigured) return page;
  throw new Problem('uptime.unknown_page', 404, 'There is nothing to subscribe to here.');
}

/** Stores an unconfirmed subscriber and sends the mail with the confirmation link. */
async function subscribe(dependencies: SubscribeDependencies, request: PageRequest): Promise<Answer> {
  const { context, subscribers, subscriberMail } = dependencies;
  const page = getSubscribablePage(dependencies, request.params.slug);
  const { email } = (request.body ?? {}) as { readonly email?: unknown };
  const base = context.publicUrl(request) ?? '';
  const { remoteAddress } = context.caller(request);
  const subscriber = await subscribers.subscribe(page, email, { remoteAddress, base });
  if (subscriber !== undefined) {
    await context.commit((transaction) => subscriberMail.enqueueConfirmation(transaction, page, subscriber, base));
  }
  return { title: 'Look into your mailbox', message: confirmationSentText };
}

/** Builds the form that a link in a mail opens. */
function buildConfirmationForm(
  { pages, subscribers }: SubscribeDependencies,
  request: PageRequest,
  actionName: keyof typeof confirmationPages,
): Answer {
  const { slug } = request.params;
  const { id, token } = subscribers.getByLink(pages.find(slug), request.query['of']);
  const action = `/status/${encodeURIComponent(slug)}/${actionName}?of=${String(id)}.${token}`;
  return { ...confirmationPages[actionName], action };
}

async function confirmSubscription(
  { pages, subscribers }: SubscribeDependencies,
  request: PageRequest,
): Promise<Answer> {
  await subscribers.confirm(subscribers.getByLink(pages.find(request.params.slug), request.query['of']));
  return {
    title: 'Done',
    message: 'You will hear of outages, notes and maintenance. Each mail has a link that ends them.',
  };
}

async function removeSubscription(
  { pages, subscribers }: SubscribeDependencies,
  request: PageRequest,
): Promise<Answer> {
  const subscriber = subscribers.getByLink(pages.find(request.params.slug), request.query['of']);
  await subscribers.remove([subscriber.id]);
  return { title: 'Done', message: 'No more mails come to your address.' };
}
