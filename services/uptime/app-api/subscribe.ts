import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readRequestBody } from '../../kit/http/body.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply } from '../../kit/http/respond.ts';
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

const maxFormBytes = 10 * 1024;

/**
 * Returns the routes for mail subscriptions of status pages. Links in mails open a form and change nothing by GET,
 * because mail scanners follow links.
 */
export function subscribeRoutes(dependencies: SubscribeDependencies): readonly Route[] {
  const answerWith =
    (work: (dependencies: SubscribeDependencies, exchange: Exchange) => Promise<Answer> | Answer) =>
    (exchange: Exchange): Promise<Reply> =>
      buildReply(exchange, () => work(dependencies, exchange));
  const askWith = (action: keyof typeof confirmationPages) =>
    answerWith((_dependencies, exchange) => buildConfirmationForm(dependencies, exchange, action));
  return [
    { method: 'POST', path: '/status/:slug/subscribe', handle: answerWith(subscribe) },
    { method: 'GET', path: '/status/:slug/confirm', handle: askWith('confirm') },
    { method: 'GET', path: '/status/:slug/unsubscribe', handle: askWith('unsubscribe') },
    { method: 'POST', path: '/status/:slug/confirm', handle: answerWith(confirmSubscription) },
    { method: 'POST', path: '/status/:slug/unsubscribe', handle: answerWith(removeSubscription) },
  ];
}

/** Builds the page of an answer. Problems are rendered on the same page. */
async function buildReply({ params }: Exchange, work: () => Promise<Answer> | Answer): Promise<Reply> {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': buildContentSecurityPolicy({ form: true, script: false }),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  };
  const back = `/status/${encodeURIComponent(getSlug(params))}`;
  try {
    return { status: 200, headers, body: renderAnswer({ ...(await work()), back }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const body = renderAnswer({ title: 'This did not work', message: error.detail, back });
    return { status: error.status, headers, body };
  }
}

function getSlug({ slug = '' }: Exchange['params']): string {
  return slug;
}

/** Returns a field of a submitted form. @throws Problem 413 */
async function readFormField({ request }: Exchange, name: string): Promise<string | undefined> {
  const body = await readRequestBody(
    request,
    maxFormBytes,
    () => new Problem('uptime.too_large', 413, 'The body is too large.'),
  );
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm ? (new URLSearchParams(body.toString()).get(name) ?? undefined) : undefined;
}

/** @throws Problem `uptime.unknown_page` (404) */
function getSubscribablePage({ pages, subscriberMail }: SubscribeDependencies, slug: string): StoredPage {
  const page = pages.find(slug);
  if (page?.config.published === true && page.config.subscribable && subscriberMail.isConfigured) return page;
  throw new Problem('uptime.unknown_page', 404, 'There is nothing to subscribe to here.');
}

/** Stores an unconfirmed subscriber and sends the mail with the confirmation link. */
async function subscribe(dependencies: SubscribeDependencies, exchange: Exchange): Promise<Answer> {
  const { request, params } = exchange;
  const { context, subscribers, subscriberMail } = dependencies;
  const page = getSubscribablePage(dependencies, getSlug(params));
  const email = await readFormField(exchange, 'email');
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
  { params, query }: Exchange,
  actionName: keyof typeof confirmationPages,
): Answer {
  const slug = getSlug(params);
  const { id, token } = subscribers.getByLink(pages.find(slug), query.get('of'));
  const action = `/status/${encodeURIComponent(slug)}/${actionName}?of=${String(id)}.${token}`;
  return { ...confirmationPages[actionName], action };
}

async function confirmSubscription(
  { pages, subscribers }: SubscribeDependencies,
  { params, query }: Exchange,
): Promise<Answer> {
  await subscribers.confirm(subscribers.getByLink(pages.find(getSlug(params)), query.get('of')));
  return {
    title: 'Done',
    message: 'You will hear of outages, notes and maintenance. Each mail has a link that ends them.',
  };
}

async function removeSubscription(
  { pages, subscribers }: SubscribeDependencies,
  { params, query }: Exchange,
): Promise<Answer> {
  const subscriber = subscribers.getByLink(pages.find(getSlug(params)), query.get('of'));
  await subscribers.remove([subscriber.id]);
  return { title: 'Done', message: 'No more mails come to your address.' };
}
