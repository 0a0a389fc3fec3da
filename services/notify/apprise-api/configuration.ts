import { formatIgnoredArguments } from '../destinations/ignored-arguments.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import type { Reply } from '../../kit/http/respond.ts';
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
import { configurationReply, emptyReply, getResponseFormat, jsonReply, sentenceReply } from './response.ts';
import { getKey, identifyForKey, refuseOtherMethods, type RouteDependencies } from './request.ts';

interface ConfigurationUpload extends WrittenConfiguration {
  /** Parts of the configuration that have no effect, as sentences. */
  readonly warnings: readonly string[];
}

/** Handles `/add`, `/get`, `/del` and `/cfg`: the configuration of a key, stored byte for byte. */
export function configurationRoutes(dependencies: RouteDependencies): readonly Route[] {
  const handlers: Readonly<Record<string, (dependencies: RouteDependencies, exchange: Exchange) => Promise<Reply>>> = {
    add: addConfiguration,
    del: removeConfiguration,
    get: getConfiguration,
    cfg: getConfiguration,
  };
  const postRoutes = Object.entries(handlers).flatMap(([name, handler]) =>
    [`/${name}`, `/${name}/:key`].map((path) => ({
      method: 'POST',
      path,
      handle: (exchange: Exchange) => handler(dependencies, exchange),
    })),
  );
  return [
    ...postRoutes,
    // Apprise API lists keys only in its administrator mode.
    { method: 'GET', path: '/cfg', handle: (exchange) => listKeys(dependencies, exchange) },
    { method: 'GET', path: '/cfg/:key', handle: (exchange) => openKey(dependencies, exchange) },
    ...refuseOtherMethods(['/add', '/add/:key', '/del', '/del/:key', '/get', '/get/:key'], ['POST']),
    ...refuseOtherMethods(['/cfg', '/cfg/:key'], ['GET', 'POST']),
  ];
}

/** Leads to the page of a key. */
async function openKey(dependencies: RouteDependencies, exchange: Exchange): Promise<undefined> {
  await authorize(dependencies, exchange);
  redirectToPage(dependencies.context, exchange);
}

/**
 * Returns the key of a request that may read and change its configuration. Configurations contain the secrets of all
 * destinations, so closed ones are restricted to administrators.
 */
async function authorize(dependencies: RouteDependencies, exchange: Exchange): Promise<string> {
  const { settings } = dependencies;
  const key = getKey(exchange);
  if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
  const { isClosed, identity } = await identifyForKey(exchange.request, dependencies, key);
  const allowed = !isClosed || identity?.role === 'admin';
  if (settings.configurationLock || settings.statefulMode === 'disabled' || !allowed)
    throw refusal(403, sentences.denied);
  return key;
}

async function addConfiguration(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply> {
  const { context } = dependencies;
  const { configurations } = dependencies.stores;
  const key = await authorize(dependencies, exchange);
  const { warnings, ...written } = await readConfiguration(await readBody(exchange.request), dependencies);
  await configurations.save(key, written, context.clock.now());
  context.log.info('configuration saved', { event: 'destinations_saved', key });
  const time = detailTime(context.clock.now());
  const details = warnings.map((warning): DetailLine => ['WARNING', time, warning]);
  return sentenceReply(exchange.request, 200, null, {
    success: sentences.saved,
    ...(details.length === 0 ? {} : { details }),
  });
}

async function removeConfiguration(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply> {
  const { context } = dependencies;
  const { configurations } = dependencies.stores;
  const key = await authorize(dependencies, exchange);
  if (!(await configurations.delete(key))) return emptyReply;
  context.log.info('configuration removed', { event: 'destinations_removed', key });
  return sentenceReply(exchange.request, 200, null, { success: sentences.removed });
}

async function getConfiguration(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply> {
  const configuration = await dependencies.stores.configurations.find(await authorize(dependencies, exchange));
  return configuration === undefined ? emptyReply : configurationReply(exchange.request, configuration);
}

async function listKeys(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply | undefined> {
  const { context, settings, stores } = dependencies;
  const { configurations } = stores;
  const { isClosed, identity } = await identifyForKey(exchange.request, dependencies, undefined);
  const allowed = !isClosed || identity?.role === 'admin';
  if (!settings.listKeys || settings.statefulMode === 'disabled' || !allowed) throw refusal(403, sentences.denied);
  if (getResponseFormat(exchange.request) === 'json') return jsonReply(200, await configurations.keys());
  redirectToPage(context, exchange);
  return undefined;
}

function redirectToPage(context: RouteDependencies['context'], { request, response }: Exchange): void {
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
      ? [`URL ${index + 1} was dropped: ${destination.reason}`]
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
  const skippedWarnings = skipped.map(({ line, reason }) => `Line ${line} does nothing: ${reason}`);
  return { ...configuration, warnings: [...skippedWarnings, ...ignoredWarnings] };
}
