import * as problems from '#messages/uptime-problems';
import * as m from '#messages/uptime-texts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readRequestBody } from '../../kit/http/body.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply } from '../../kit/http/respond.ts';
import type { StoredPage, StatusPages } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import type { Subscribers } from '../notifications/subscribers.ts';
import { buildContentSecurityPolicy } from '../wire/status-page/document.ts';
import { renderAnswer } from '../wire/status-page/page.ts';
import type { PageAccess } from './page-access.ts';

export interface SubscribeDependencies {
  readonly context: Pick<Context, 'commit' | 'caller' | 'publicUrl'>;
  readonly pages: StatusPages;
  readonly subscribers: Subscribers;
  readonly subscriberMail: SubscriberMail;
  readonly access: PageAccess;
}

const confirmationPages = {
  confirm: {
    title: m.confirmTitle,
    message: m.confirmQuestion,
    button: m.confirmButton,
  },
  unsubscribe: {
    title: m.unsubscribeTitle,
    message: m.unsubscribeQuestion,
    button: m.unsubscribeButton,
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

/** Builds the page of an answer in the language of the visitor. Problems are rendered on the same page. */
function buildReply(exchange: Exchange, work: () => Promise<Answer> | Answer): Promise<Reply> {
  const language = negotiateRequestLanguage(exchange.request.headers['accept-language']);
  return runInLanguage(language, () => buildPage(exchange, work));
}

async function buildPage({ params }: Exchange, work: () => Promise<Answer> | Answer): Promise<Reply> {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': buildContentSecurityPolicy({ form: true, script: false }),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Language',
  };
  const back = `/status/${encodeURIComponent(getSlug(params))}`;
  try {
    return { status: 200, headers, body: renderAnswer({ ...(await work()), back }) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const body = renderAnswer({ title: m.failedTitle(), message: error.detail, back });
    return { status: error.status, headers, body };
  }
}

function getSlug({ slug = '' }: Exchange['params']): string {
  return slug;
}

/** Returns a field of a submitted form. @throws Problem 413 */
export async function readFormField({ request }: Exchange, name: string): Promise<string | undefined> {
  const body = await readRequestBody(
    request,
    maxFormBytes,
    () => new Problem('uptime.too_large', 413, problems.bodyTooLarge()),
  );
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm ? (new URLSearchParams(body.toString()).get(name) ?? undefined) : undefined;
}

/** @throws Problem `uptime.unknown_page` (404) */
function getSubscribablePage({ pages, subscriberMail }: SubscribeDependencies, slug: string): StoredPage {
  const page = pages.find(slug);
  if (page?.config.published === true && page.config.subscribable && subscriberMail.isConfigured) return page;
  throw new Problem('uptime.unknown_page', 404, problems.notSubscribable());
}

/** Stores an unconfirmed subscriber and sends the mail with the confirmation link. */
async function subscribe(dependencies: SubscribeDependencies, exchange: Exchange): Promise<Answer> {
  const { request, params } = exchange;
  const { context, subscribers, subscriberMail } = dependencies;
  const page = getSubscribablePage(dependencies, getSlug(params));
  await dependencies.access.authorize(page, request);
  const email = await readFormField(exchange, 'email');
  const base = context.publicUrl(request) ?? '';
  const { remoteAddress } = context.caller(request);
  const subscriber = await subscribers.subscribe(page, email, { remoteAddress, base });
  if (subscriber !== undefined) {
    await context.commit((transaction) => subscriberMail.enqueueConfirmation(transaction, page, subscriber, base));
  }
  return { title: m.checkMailbox(), message: m.confirmationSent() };
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
  const { title, message, button } = confirmationPages[actionName];
  return { title: title(), message: message(), button: button(), action };
}

async function confirmSubscription(
  { pages, subscribers }: SubscribeDependencies,
  { params, query }: Exchange,
): Promise<Answer> {
  await subscribers.confirm(subscribers.getByLink(pages.find(getSlug(params)), query.get('of')));
  return {
    title: m.done(),
    message: m.subscribed(),
  };
}

async function removeSubscription(
  { pages, subscribers }: SubscribeDependencies,
  { params, query }: Exchange,
): Promise<Answer> {
  const subscriber = subscribers.getByLink(pages.find(getSlug(params)), query.get('of'));
  await subscribers.remove([subscriber.id]);
  return { title: m.done(), message: m.unsubscribed() };
}
