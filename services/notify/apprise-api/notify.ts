import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { selectDeliveries } from '../accept/selection.ts';
import { openIntake } from '../attachments/intake.ts';
import { detailTime, filterDetails, type DetailLine } from '../domain/response-format.ts';
import { explainEmptySelection } from '../domain/explain-selection.ts';
import { splitUrls } from '../domain/configuration.ts';
import type { IsAllowed } from '../destinations/service-filter.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { selectDestinations } from '../domain/tags.ts';
import type { Outcome } from '../deliver/first-attempts.ts';
import { sendResultWebhook } from '../deliver/result-webhook.ts';
import { formatIgnoredArguments } from '../destinations/ignored-arguments.ts';
import { maxDestinations, readDestinations, refuseDisallowed, type TaggedDestination } from '../keys/read-key.ts';
import { getMaxFileBytes } from '../settings.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply } from '../../kit/http/respond.ts';
import { parseQuery } from '../../kit/http/url-encoded.ts';
import { sentences } from '../wire/notify.ts';
import { readBody, type Body } from './body.ts';
import { readHops, readNotification, refusal } from './notification.ts';
import { detailsReply, emptyReply, slackReply } from './response.ts';
import { getHeader, getKey, identify, needsSignIn, refuseOtherMethods, type RouteDependencies } from './request.ts';
import { checkSignature } from './signature.ts';

const levelsByState = {
  done: 'INFO',
  held: 'INFO',
  repeated: 'INFO',
  queued: 'WARNING',
  passed: 'WARNING',
  failed: 'ERROR',
} as const;

function getQuery({ url = '' }: IncomingMessage): URLSearchParams {
  return parseQuery(url.split('?').slice(1).join('?'));
}

/**
 * Returns the allowed destinations of a stateless call, without tags.
 *
 * @throws Problem 400 above the maximum number.
 */
async function parseUrls(
  urls: readonly string[],
  engine: EngineDestinations,
  isAllowed: IsAllowed,
): Promise<readonly TaggedDestination[]> {
  if (urls.length > maxDestinations) throw refusal(400, `${sentences.noUrls}: at most ${maxDestinations} are served`);
  return (await readDestinations(urls, engine))
    .map((result) => refuseDisallowed(result, isAllowed))
    .flatMap((result) => ('reason' in result ? [] : [result]))
    .map(({ destination, rules }) => ({ destination, rules, tags: [] }));
}

/** Handles `POST /notify/KEY`, and `POST /notify` with the key in a header or the destinations in `urls`. */
export function notifyRoutes(dependencies: RouteDependencies): readonly Route[] {
  const paths = ['/notify', '/notify/:key'];
  const handle = (exchange: Exchange): Promise<Reply> => notify(dependencies, exchange);
  return [...paths.map((path) => ({ method: 'POST', path, handle })), ...refuseOtherMethods(paths, ['POST'])];
}

/** @throws Problem 403 when the key needs a sign-in and the account may not write to it */
async function authorize(
  dependencies: RouteDependencies,
  request: IncomingMessage,
  key: string | undefined,
): Promise<Identity | undefined> {
  const { context } = dependencies;
  const isClosed = await needsSignIn(request, dependencies);
  const identity = await identify(request, context, isClosed);
  if (isClosed && !context.accounts.may(identity, 'notify', 'write', key ?? '*')) {
    throw new Problem('notify.forbidden', 403, sentences.denied);
  }
  return identity;
}

function isGranted({ accounts }: RouteDependencies['context'], identity: Identity | undefined, key = '*'): boolean {
  return identity !== undefined && accounts.may(identity, 'notify', 'write', key);
}

/** Accepts a notification and sends the result of the first attempts. */
async function notify(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply> {
  const { request } = exchange;
  const { aggregator, context, engine, settings, stores } = dependencies;
  const key = getKey(exchange);
  const identity = await authorize(dependencies, request, key);
  const hops = readHops(getHeader(request, 'x-apprise-recursion-count'), settings.recursionLimit);
  await using files = openIntake(context, stores.folder, { ...settings, attachmentBytes: getMaxFileBytes(settings) });
  const isStateful = settings.statefulMode !== 'disabled';
  const parsedKey = key === undefined || !isStateful ? undefined : await aggregator.find(key);
  const secret = isGranted(context, identity, key) ? undefined : parsedKey?.secret;
  // Files of a request that must be signed are not written to disk.
  const body = await readBody(request, secret === undefined ? files.addStream : undefined);
  if (secret !== undefined) requireSignature(request, body, secret);
  // The texts of payloads of known programs are for all readers of the notification.
  const { content, expression, urls, sources, expectsSlackReply } = await context.inHostLanguage(() =>
    readNotification(body, getQuery(request), {
      header: (name) => getHeader(request, name),
      mappingDepth: settings.mappingDepth,
      key,
      hasFiles: files.files.length > 0,
    }),
  );
  const statelessUrls = urls.length === 0 ? splitUrls(settings.statelessUrls) : urls;
  const destinations =
    parsedKey === undefined
      ? await parseUrls(key === undefined ? statelessUrls : [], engine, dependencies.isAllowed)
      : selectDeliveries(parsedKey, expression);
  if (parsedKey === undefined && destinations.length === 0) {
    return emptyReply;
  }
  // Destinations of a stateless call have no tags, so an expression selects none of them, as in Apprise API.
  const selected = parsedKey === undefined ? selectDestinations(destinations, expression) : destinations;
  if (selected.length > 0 && !(await files.addSources(sources))) throw refusal(400, sentences.badAttachment);
  const outcomes = await aggregator.post(key ?? '', selected, content, {
    files: files.files,
    hops,
    ...(parsedKey === undefined ? {} : { options: parsedKey.options }),
  });
  if (outcomes.some(({ state }) => state !== 'repeated')) files.release();
  const failed = hasFailed(outcomes, parsedKey?.options.strict === true);
  const errorText = key === undefined ? sentences.notSentStateless : sentences.notSent;
  const outcomeLines = describeOutcomes(outcomes, context.clock.now(), () =>
    explainEmptySelection(key, parsedKey?.entries ?? [], expression),
  );
  const lines = filterDetails(
    [...outcomeLines, ...describeIgnoredArguments(selected, context.clock.now())],
    getHeader(request, 'x-apprise-log-level'),
  );
  sendResultWebhook(context, settings.resultsUrl, {
    source: request.socket.remoteAddress ?? '',
    status: failed ? 1 : 0,
    output: lines,
  });
  // Delayed deliveries remain in the outbox; an error response would make the caller send again.
  if (expectsSlackReply && !failed) return slackReply(request, lines);
  return detailsReply(request, failed ? 424 : 200, failed ? errorText : null, lines);
}

/** @param isStrict Delayed deliveries count as failed */
function hasFailed(outcomes: readonly Outcome[], isStrict: boolean): boolean {
  const failureStates = isStrict ? ['failed', 'queued'] : ['failed'];
  return outcomes.length === 0 || outcomes.some(({ state, optional }) => failureStates.includes(state) && !optional);
}

/** Returns a line for each destination whose address has arguments without effect. */
function describeIgnoredArguments(
  destinations: readonly Pick<TaggedDestination, 'destination'>[],
  now: number,
): readonly DetailLine[] {
  const sentences = destinations.flatMap(({ destination }) => formatIgnoredArguments(destination) ?? []);
  return [...new Set(sentences)].map((errorText): DetailLine => ['WARNING', detailTime(now), errorText]);
}

/**
 * Checks the signature of a post to a key with a secret. Accounts with a grant need none.
 *
 * @throws Problem 401, 403
 */
function requireSignature(request: IncomingMessage, body: Body, secret: string): void {
  const formTexts = 'fields' in body && typeof body.fields['payload'] === 'string' ? [body.fields['payload']] : [];
  const bytes = 'bytes' in body && body.bytes !== undefined ? [body.bytes] : [];
  const result = checkSignature((name) => getHeader(request, name), secret, [...bytes, ...formTexts]);
  if (result === 'good') return;
  if (result === 'wrong') throw new Problem('notify.bad_signature', 403, sentences.badSignature);
  throw new Problem('notify.unsigned', 401, sentences.unsigned);
}

/** Returns a line for each result, or one that explains why there is none. */
function describeOutcomes(
  outcomes: readonly Outcome[],
  now: number,
  explainEmpty: () => string,
): readonly DetailLine[] {
  const time = detailTime(now);
  if (outcomes.length === 0) return [['ERROR', time, explainEmpty()]];
  return outcomes.map(({ state, detail }): DetailLine => [levelsByState[state], time, detail]);
}
