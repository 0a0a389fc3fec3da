import { Router, type Request, type Response } from 'express';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { selectDeliveries } from '../accept/selection.ts';
import { openIntake } from '../attachments/intake.ts';
import { detailTime, filterDetails, type DetailLine } from '../domain/response-format.ts';
import { explainNobody } from '../domain/explain-selection.ts';
import { splitUrls } from '../domain/configuration.ts';
import type { IsServed } from '../destinations/service-filter.ts';
import type { EngineDestinations } from '../apprise/destinations.ts';
import { selectDestinations } from '../domain/tags.ts';
import type { Outcome } from '../deliver/first-attempts.ts';
import { sendResultWebhook } from '../deliver/result-webhook.ts';
import { ignoredSentence } from '../destinations/ignored-arguments.ts';
import { mostDestinations, readDestinations, whereServed, type TaggedDestination } from '../keys/read-key.ts';
import { largestFile } from '../settings.ts';
import { parseQuery } from '../../kit/url-encoded.ts';
import { sentences } from '../wire/notify.ts';
import { readBody, type Body } from './body.ts';
import { readHops, readNotification, refusal } from './notification.ts';
import { sendDetails, sendNothing, sendOk } from './response.ts';
import { identify, needsSignIn, keyOf, onlyMethods, type RouteParts } from './request.ts';
import { proofOf } from './signature.ts';

const levels = {
  done: 'INFO',
  held: 'INFO',
  repeated: 'INFO',
  queued: 'WARNING',
  passed: 'WARNING',
  failed: 'ERROR',
} as const;

function queryOf(request: Request): URLSearchParams {
  return parseQuery(request.originalUrl.split('?').slice(1).join('?'));
}

/** URLs of a stateless call that can be served, as destinations without tags. @throws Problem 400 for too many. */
async function fromUrls(
  urls: readonly string[],
  engine: EngineDestinations,
  isServed: IsServed,
): Promise<readonly TaggedDestination[]> {
  if (urls.length > mostDestinations) throw refusal(400, `${sentences.noUrls}: at most ${mostDestinations} are served`);
  return (await readDestinations(urls, engine))
    .map((read) => whereServed(read, isServed))
    .filter((read) => typeof read !== 'string')
    .map(({ destination, rules }) => ({ destination, rules, tags: [] }));
}

/** `POST /notify/KEY`, and `POST /notify` with the key in a header or the destinations in `urls`. */
export function notifyRoutes(parts: RouteParts): Router {
  const { aggregator, context, engine, folder, settings } = parts;

  const isGranted = (identity: Identity | undefined, key = '*'): boolean =>
    identity !== undefined && context.accounts.may(identity, 'notify', 'write', key);

  const notify = async (request: Request, response: Response): Promise<void> => {
    const key = keyOf(request);
    const isClosed = await needsSignIn(request, parts);
    const identity = await identify(request, context, isClosed);
    if (isClosed && !context.accounts.may(identity, 'notify', 'write', key ?? '*')) {
      throw new Problem('notify.forbidden', 403, sentences.denied);
    }
    const hops = readHops(request.get('x-apprise-recursion-count'), settings.recursionLimit);
    await using files = openIntake(context, folder, { ...settings, attachmentBytes: largestFile(settings) });
    const isStateful = settings.statefulMode !== 'disabled';
    const known = key === undefined || !isStateful ? undefined : await aggregator.find(key);
    const secret = isGranted(identity, key) ? undefined : known?.secret;
    // What cannot be signed is not written to disk either.
    const body = await readBody(request, secret === undefined ? files.take : undefined);
    if (secret !== undefined) demandProof(request, body, secret);
    const { notice, expression, urls, sources, forSlack } = readNotification(body, queryOf(request), {
      header: (name) => request.get(name),
      mappingDepth: settings.mappingDepth,
      key,
      hasFiles: files.kept.length > 0,
    });
    const named = urls.length === 0 ? splitUrls(settings.statelessUrls) : urls;
    const destinations =
      known === undefined
        ? await fromUrls(key === undefined ? named : [], engine, parts.isServed)
        : selectDeliveries(known, expression);
    if (known === undefined && destinations.length === 0) {
      sendNothing(response);
      return;
    }
    // Without a configuration nothing wears a tag, so an expression reaches nobody, as in the peer.
    const chosen = known === undefined ? selectDestinations(destinations, expression) : destinations;
    if (chosen.length > 0 && !(await files.fetch(sources))) throw refusal(400, sentences.badAttachment);
    const outcomes = await aggregator.post(key ?? '', chosen, notice, {
      ...{ files: files.kept, hops },
      ...(known === undefined ? {} : { options: known.options }),
    });
    if (outcomes.some(({ state }) => state !== 'repeated')) files.release();
    const bad = known?.options.strict === true ? ['failed', 'queued'] : ['failed'];
    const failed = outcomes.length === 0 || outcomes.some(({ state, optional }) => bad.includes(state) && !optional);
    const sentence = key === undefined ? sentences.notSentStateless : sentences.notSent;
    const told = describe(outcomes, context.clock.now(), () => explainNobody(key, known?.entries ?? [], expression));
    const lines = filterDetails(
      [...told, ...ignoredLines(chosen, context.clock.now())],
      request.get('x-apprise-log-level'),
    );
    sendResultWebhook(context, settings.resultsUrl, {
      source: request.socket.remoteAddress ?? '',
      status: failed ? 1 : 0,
      output: lines,
    });
    // A destination that is only late is in the outbox: telling the caller of a failure would make it send again.
    if (forSlack && !failed) sendOk(request, response, lines);
    else sendDetails(request, response, failed ? 424 : 200, failed ? sentence : null, lines);
  };

  const router = Router();
  router.post(['/notify', '/notify/:key'], notify);
  router.all(['/notify', '/notify/:key'], (request, response, next) => {
    keyOf(request);
    onlyMethods('POST')(request, response, next);
  });
  return router;
}

/** A line for each destination whose address has arguments without effect. */
function ignoredLines(
  destinations: readonly Pick<TaggedDestination, 'destination'>[],
  now: number,
): readonly DetailLine[] {
  const sentences = destinations.flatMap(({ destination }) => ignoredSentence(destination) ?? []);
  return [...new Set(sentences)].map((sentence): DetailLine => ['WARNING', detailTime(now), sentence]);
}

/** A key with a secret takes what is signed with it, or comes from an account that may post there. @throws Problem 401, 403 */
function demandProof(request: Request, body: Body, secret: string): void {
  const inForm = 'fields' in body && typeof body.fields['payload'] === 'string' ? [body.fields['payload']] : [];
  const bytes = 'bytes' in body && body.bytes !== undefined ? [body.bytes] : [];
  const proof = proofOf((name) => request.get(name), secret, [...bytes, ...inForm]);
  if (proof === 'good') return;
  if (proof === 'wrong') throw new Problem('notify.bad_signature', 403, sentences.badSignature);
  throw new Problem('notify.unsigned', 401, sentences.unsigned);
}

/** A line for each outcome, or one that says why there is none. */
function describe(outcomes: readonly Outcome[], now: number, whyNone: () => string): readonly DetailLine[] {
  const time = detailTime(now);
  if (outcomes.length === 0) return [['ERROR', time, whyNone()]];
  return outcomes.map(({ state, detail }): DetailLine => [levels[state], time, detail]);
}
