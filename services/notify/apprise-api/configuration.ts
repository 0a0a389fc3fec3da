import { Router, type Request, type Response } from 'express';
import { formatIgnoredArguments } from '../destinations/ignored-arguments.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { Problem } from '../../contracts/problem.ts';
import { detailTime, type DetailLine } from '../domain/response-format.ts';
import { splitUrls } from '../domain/configuration.ts';
import { withRules } from '../domain/delivery-rules.ts';
import { guessFormat } from '../domain/parse-configuration.ts';
import { maxDestinations, readDestinations, readKey, removeDisallowed, refuseDisallowed } from '../keys/read-key.ts';
import type { WrittenConfiguration } from '../store/configurations.ts';
import { getMaxConfigurationBytes } from '../settings.ts';
import { AddFields, sentences } from '../wire/notify.ts';
import { readBody, type Body } from './body.ts';
import { refusal } from './notification.ts';
import { getResponseFormat, sendConfiguration, sendJson, sendNothing, sendSentence } from './response.ts';
import { identifyForKey, getKey, allowMethods, type RouteDependencies } from './request.ts';

interface ConfigurationUpload extends WrittenConfiguration {
  /** Parts of the configuration that have no effect, as sentences. */
  readonly warnings: readonly string[];
}

/** Handles `/add`, `/get`, `/del` and `/cfg`: the configuration of a key, stored byte for byte. */
export function configurationRoutes(dependencies: RouteDependencies): Router {
  const router = Router();
  router.post(['/add', '/add/:key'], (request, response) => addConfiguration(dependencies, request, response));
  router.post(['/del', '/del/:key'], (request, response) => removeConfiguration(dependencies, request, response));
  router.post(['/get', '/get/:key', '/cfg', '/cfg/:key'], (request, response) =>
    getConfiguration(dependencies, request, response),
  );
  router.get(['/cfg', '/cfg/:key'], async (request, response) => {
    // Apprise API lists keys only in its administrator mode.
    if (request.params['key'] === undefined) return listKeys(dependencies, request, response);
    await authorize(dependencies, request);
    redirectToPage(dependencies.context, request, response);
  });
  router.all(['/add', '/add/:key', '/del', '/del/:key', '/get', '/get/:key'], (request, response, next) => {
    getKey(request);
    allowMethods('POST')(request, response, next);
  });
  router.all(['/cfg', '/cfg/:key'], allowMethods('GET', 'POST'));
  return router;
}

/**
 * Returns the key of a request that may read and change its configuration. Configurations contain the secrets of all
 * destinations, so closed ones are restricted to administrators.
 */
async function authorize(dependencies: RouteDependencies, request: Request): Promise<string> {
  const { settings } = dependencies;
  const key = getKey(request);
  if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
  const { isClosed, identity } = await identifyForKey(request, dependencies, key);
  const allowed = !isClosed || identity?.role === 'admin';
  if (settings.configurationLock || settings.statefulMode === 'disabled' || !allowed)
    throw refusal(403, sentences.denied);
  return key;
}

async function addConfiguration(dependencies: RouteDependencies, request: Request, response: Response): Promise<void> {
  const { context, configurations } = dependencies;
  const key = await authorize(dependencies, request);
  const { warnings, ...written } = await readConfiguration(await readBody(request), dependencies);
  await configurations.save(key, written, context.clock.now());
  context.log.info('configuration saved', { key });
  const time = detailTime(context.clock.now());
  const details = warnings.map((warning): DetailLine => ['WARNING', time, warning]);
  sendSentence(request, response, 200, null, {
    success: sentences.saved,
    ...(details.length === 0 ? {} : { details }),
  });
}

async function removeConfiguration(
  dependencies: RouteDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  const { context, configurations } = dependencies;
  const key = await authorize(dependencies, request);
  if (!(await configurations.delete(key))) {
    sendNothing(response);
    return;
  }
  context.log.info('configuration removed', { key });
  sendSentence(request, response, 200, null, { success: sentences.removed });
}

async function getConfiguration(dependencies: RouteDependencies, request: Request, response: Response): Promise<void> {
  const configuration = await dependencies.configurations.find(await authorize(dependencies, request));
  if (configuration === undefined) sendNothing(response);
  else sendConfiguration(request, response, configuration);
}

async function listKeys(dependencies: RouteDependencies, request: Request, response: Response): Promise<void> {
  const { context, configurations, settings } = dependencies;
  const { isClosed, identity } = await identifyForKey(request, dependencies, undefined);
  const allowed = !isClosed || identity?.role === 'admin';
  if (!settings.listKeys || settings.statefulMode === 'disabled' || !allowed) throw refusal(403, sentences.denied);
  if (getResponseFormat(request) === 'json') sendJson(response, 200, await configurations.keys());
  else redirectToPage(context, request, response);
}

function redirectToPage(context: RouteDependencies['context'], request: Request, response: Response): void {
  const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/delivery' });
  if (!isAnswered) throw refusal(404, sentences.notFound);
}

async function readConfiguration(body: Body, dependencies: RouteDependencies): Promise<ConfigurationUpload> {
  if (body.kind === 'too-large') throw refusal(400, sentences.configurationTooLarge);
  if (body.kind === 'bad-json' || (body.kind === 'text' && body.isJsonType === true)) {
    throw refusal(400, sentences.badJson);
  }
  if (body.kind !== 'json' && body.kind !== 'form') throw refusal(400, sentences.noConfigurationUrls);
  if (body.kind === 'json' && Object.keys(body.fields).length === 0) throw refusal(400, sentences.badStructure);
  const { urls, config, format } = AddFields.parse(body.fields);
  if (typeof urls === 'string' || Array.isArray(urls)) return buildFromUrls(urls, dependencies);
  if (typeof config !== 'string') {
    throw refusal(400, body.kind === 'form' ? sentences.noConfigurationUrls : sentences.noConfiguration);
  }
  if (Buffer.byteLength(config) > getMaxConfigurationBytes(dependencies.settings)) {
    throw refusal(400, sentences.configurationTooLarge);
  }
  return buildFromText(config, format ?? (body.kind === 'form' ? 'auto' : undefined), dependencies);
}

/** Stores URLs in normal form, one per line, as Apprise API does. */
async function buildFromUrls(
  urls: string | readonly unknown[],
  { engine, isAllowed }: RouteDependencies,
): Promise<ConfigurationUpload> {
  const urlTexts = [urls].flat().flatMap((item) => (typeof item === 'string' ? splitUrls(item) : []));
  if (urlTexts.length > maxDestinations)
    throw refusal(400, `${sentences.noUrls}: at most ${maxDestinations} are served`);
  const destinations = (await readDestinations(urlTexts, engine)).map((result) => refuseDisallowed(result, isAllowed));
  const usable = destinations.flatMap((destination) => ('reason' in destination ? [] : [destination]));
  if (usable.length === 0) throw refusal(400, sentences.noUrls);
  const warnings = destinations.flatMap((destination, index) =>
    'reason' in destination
      ? [`URL ${index + 1} was dropped: ${destination.reason}.`]
      : (formatIgnoredArguments(destination.destination) ?? []),
  );
  return {
    format: 'text',
    text: usable.map(({ destination, ruleArguments }) => withRules(destination.url(false), ruleArguments)).join('\r\n'),
    warnings,
  };
}

async function buildFromText(
  config: string,
  format: unknown,
  dependencies: RouteDependencies,
): Promise<ConfigurationUpload> {
  const formatName = typeof format === 'string' ? format.toLowerCase() : '';
  if (!['text', 'auto', 'yaml'].includes(formatName)) throw refusal(400, sentences.badConfigurationFormat);
  const configuration = {
    text: config,
    format: formatName === 'text' || formatName === 'yaml' ? formatName : guessFormat(config),
  } as const;
  const { entries, skipped } = removeDisallowed(
    await readKey(configuration, dependencies.engine),
    dependencies.isAllowed,
  );
  if (entries.length === 0) throw refusal(400, sentences.noConfigurationUrls);
  const ignoredWarnings = entries.flatMap(({ line, destination }) => {
    const sentence = formatIgnoredArguments(destination);
    return sentence === undefined ? [] : [`Line ${line}: ${sentence}`];
  });
  const skippedWarnings = skipped.map(({ line, reason }) => `Line ${line} does nothing: ${reason}.`);
  return { ...configuration, warnings: [...skippedWarnings, ...ignoredWarnings] };
}
