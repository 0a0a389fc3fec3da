import { Router, type Request, type Response } from 'express';
import { ignoredSentence } from '../destinations/ignored-arguments.ts';
import { redirectToAppPage } from '../../kit/redirect-to-app.ts';
import { Problem } from '../../contracts/problem.ts';
import { detailTime, type DetailLine } from '../domain/response-format.ts';
import { splitUrls } from '../domain/configuration.ts';
import { withRules } from '../domain/delivery-rules.ts';
import { guessFormat } from '../domain/parse-configuration.ts';
import { mostDestinations, readDestinations, readKey, servedOnly, whereServed } from '../keys/read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';
import { largestConfiguration } from '../settings.ts';
import { AddFields, sentences } from '../wire/notify.ts';
import { readBody, type Body } from './body.ts';
import { refusal } from './notification.ts';
import { answerKind, sendConfiguration, sendJson, sendNothing, sendSentence } from './response.ts';
import { identifyForKey, keyOf, onlyMethods, type RouteParts } from './request.ts';

interface NewConfiguration extends WrittenConfiguration {
  /** What of it does nothing. */
  readonly dropped: readonly string[];
}

/** `/add`, `/get`, `/del` and `/cfg`: a key's configuration, kept byte for byte. */
export function configurationRoutes(parts: RouteParts): Router {
  const { context, configurations, settings } = parts;

  /** Configurations hold the secrets of all destinations, so where they are closed they are the administrators' alone. */
  const admit = async (request: Request): Promise<string> => {
    const key = keyOf(request);
    if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
    const { isClosed, identity } = await identifyForKey(request, parts, key);
    const allowed = !isClosed || identity?.role === 'admin';
    if (settings.configurationLock || settings.statefulMode === 'disabled' || !allowed)
      throw refusal(403, sentences.denied);
    return key;
  };

  const add = async (request: Request, response: Response): Promise<void> => {
    const key = await admit(request);
    const { dropped, ...written } = await readConfiguration(await readBody(request), parts);
    await configurations.save(key, written, context.clock.now());
    context.log.info('configuration saved', { key });
    const time = detailTime(context.clock.now());
    const details = dropped.map((reason): DetailLine => ['WARNING', time, reason]);
    sendSentence(request, response, 200, null, {
      success: sentences.saved,
      ...(details.length === 0 ? {} : { details }),
    });
  };

  const remove = async (request: Request, response: Response): Promise<void> => {
    const key = await admit(request);
    if (!(await configurations.remove(key))) {
      sendNothing(response);
      return;
    }
    context.log.info('configuration removed', { key });
    sendSentence(request, response, 200, null, { success: sentences.removed });
  };

  const get = async (request: Request, response: Response): Promise<void> => {
    const configuration = await configurations.find(await admit(request));
    if (configuration === undefined) sendNothing(response);
    else sendConfiguration(request, response, configuration);
  };

  const listKeys = async (request: Request, response: Response): Promise<void> => {
    const { isClosed, identity } = await identifyForKey(request, parts, undefined);
    const allowed = !isClosed || identity?.role === 'admin';
    if (!settings.listKeys || settings.statefulMode === 'disabled' || !allowed) throw refusal(403, sentences.denied);
    if (answerKind(request) === 'json') sendJson(response, 200, await configurations.keys());
    else leadToPage(request, response);
  };

  const leadToPage = (request: Request, response: Response): void => {
    const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/delivery' });
    if (!isAnswered) throw refusal(404, sentences.notFound);
  };

  const router = Router();
  router.post(['/add', '/add/:key'], add);
  router.post(['/del', '/del/:key'], remove);
  router.post(['/get', '/get/:key', '/cfg', '/cfg/:key'], get);
  router.get(['/cfg', '/cfg/:key'], async (request, response) => {
    // The list of keys is closed in the peer unless it runs in its administrators' mode.
    if (request.params['key'] === undefined) return listKeys(request, response);
    await admit(request);
    leadToPage(request, response);
  });
  router.all(['/add', '/add/:key', '/del', '/del/:key', '/get', '/get/:key'], (request, response, next) => {
    keyOf(request);
    onlyMethods('POST')(request, response, next);
  });
  router.all(['/cfg', '/cfg/:key'], onlyMethods('GET', 'POST'));
  return router;
}

async function readConfiguration(body: Body, parts: RouteParts): Promise<NewConfiguration> {
  if (body.kind === 'too-large') throw refusal(400, sentences.configurationTooLarge);
  if (body.kind === 'bad-json' || (body.kind === 'text' && body.isJsonType === true)) {
    throw refusal(400, sentences.badJson);
  }
  if (body.kind !== 'json' && body.kind !== 'form') throw refusal(400, sentences.noConfigurationUrls);
  if (body.kind === 'json' && Object.keys(body.fields).length === 0) throw refusal(400, sentences.badStructure);
  const { urls, config, format } = AddFields.parse(body.fields);
  if (typeof urls === 'string' || Array.isArray(urls)) return fromUrls(urls, parts);
  if (typeof config !== 'string') {
    throw refusal(400, body.kind === 'form' ? sentences.noConfigurationUrls : sentences.noConfiguration);
  }
  if (Buffer.byteLength(config) > largestConfiguration(parts.settings)) {
    throw refusal(400, sentences.configurationTooLarge);
  }
  return fromConfig(config, format ?? (body.kind === 'form' ? 'auto' : undefined), parts);
}

/** URLs are kept in their normal form, one a line, as the peer does. */
async function fromUrls(
  urls: string | readonly unknown[],
  { engine, isServed }: RouteParts,
): Promise<NewConfiguration> {
  const given = [urls].flat().flatMap((item) => (typeof item === 'string' ? splitUrls(item) : []));
  if (given.length > mostDestinations)
    throw refusal(400, `${sentences.noUrls}: at most ${mostDestinations} are served`);
  const destinations = (await readDestinations(given, engine)).map((read) => whereServed(read, isServed));
  const kept = destinations.filter((destination) => typeof destination !== 'string');
  if (kept.length === 0) throw refusal(400, sentences.noUrls);
  const dropped = destinations.flatMap((destination, index) =>
    typeof destination === 'string'
      ? [`URL ${index + 1} was dropped: ${destination}.`]
      : (ignoredSentence(destination.destination) ?? []),
  );
  return {
    format: 'text',
    text: kept.map(({ destination, written }) => withRules(destination.url(false), written)).join('\r\n'),
    dropped,
  };
}

async function fromConfig(config: string, format: unknown, parts: RouteParts): Promise<NewConfiguration> {
  const wanted = typeof format === 'string' ? format.toLowerCase() : '';
  if (!['text', 'auto', 'yaml'].includes(wanted)) throw refusal(400, sentences.badConfigurationFormat);
  const written = {
    text: config,
    format: wanted === 'text' || wanted === 'yaml' ? wanted : guessFormat(config),
  } as const;
  const { entries, skipped } = servedOnly(await readKey(written, parts.engine), parts.isServed);
  if (entries.length === 0) throw refusal(400, sentences.noConfigurationUrls);
  const ignored = entries.flatMap(({ line, destination }) => {
    const sentence = ignoredSentence(destination);
    return sentence === undefined ? [] : [`Line ${line}: ${sentence}`];
  });
  const useless = skipped.map(({ line, reason }) => `Line ${line} does nothing: ${reason}.`);
  return { ...written, dropped: [...useless, ...ignored] };
}
