import { Router, type Request, type Response } from 'express';
import { parseQuery } from '../../kit/http/url-encoded.ts';
import { Problem } from '../../contracts/problem.ts';
import { destinationId } from '../destinations/catalogue.ts';
import { parseTagField, selectDestinations, type Tag } from '../domain/tags.ts';
import { getMaxFileBytes } from '../settings.ts';
import { createWriteCheck, type WriteCheck } from './writable.ts';
import { sentences } from '../wire/notify.ts';
import { describeServices, servicesPage } from './details.ts';
import { queryTags, refusal } from './notification.ts';
import { getResponseFormat, sendJson, sendNothing } from './response.ts';
import { identifyForKey, getKey, allowMethods, type RouteDependencies } from './request.ts';

/** Handles `/json/urls` (configured destinations), `/status` (health) and `/details` (supported services). */
export function catalogueRoutes(dependencies: RouteDependencies): Router {
  const tryWriting = createWriteCheck(dependencies.context, dependencies);
  const router = Router();
  router.get(['/json/urls', '/json/urls/:key'], (request, response) => listUrls(dependencies, request, response));
  router.get('/status', async (request, response) => {
    sendStatus(dependencies.settings, await tryWriting(), request, response);
  });
  router.get('/details', (request, response) => sendDetails(dependencies, request, response));
  router.all(['/json/urls', '/json/urls/:key', '/status', '/details'], allowMethods('GET', 'HEAD'));
  return router;
}

/** Lists the destinations of a key. Secrets are masked unless the caller may see them. */
async function listUrls(dependencies: RouteDependencies, request: Request, response: Response): Promise<void> {
  const { aggregator, context, settings } = dependencies;
  const key = getKey(request);
  if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
  const { isClosed, identity } = await identifyForKey(request, dependencies, key);
  if (isClosed && !context.accounts.may(identity, 'notify', 'read', key)) {
    throw refusal(403, sentences.denied);
  }
  const parsedKey = settings.statefulMode === 'disabled' ? undefined : await aggregator.find(key);
  if (parsedKey === undefined) {
    sendNothing(response);
    return;
  }
  const query = parseQuery(request.originalUrl.split('?').slice(1).join('?'));
  const hidesSecrets = settings.configurationLock || (isClosed && identity?.role !== 'admin');
  const masked = hidesSecrets || /^(1|y|t|on)/i.test(query.get('privacy') ?? '');
  const tag = parseTagField(queryTags(query));
  if (tag.kind === 'invalid') throw refusal(400, sentences.badTag);
  const selected = selectDestinations(parsedKey.entries, tag.kind === 'none' ? undefined : tag.expression);
  sendJson(response, 200, {
    tags: [...new Set(selected.flatMap(({ tags }) => tags.map(({ name }) => name)))],
    urls: selected.map(({ destination, tags }) => ({
      id: destinationId(destination).slice(0, 8),
      service_name: destination.service,
      enabled: true,
      url: destination.url(masked),
      retry: 0,
      optional: destination.optional,
      ...describeTags(tags),
    })),
  });
}

/** Sends the state of the service, with 417 when configurations or files cannot be written. */
function sendStatus(
  settings: RouteDependencies['settings'],
  writable: WriteCheck,
  request: Request,
  response: Response,
): void {
  const { configurations: canWriteConfigurations, files: canWriteFiles } = writable;
  const details = [
    ...(canWriteConfigurations ? [] : ['CONFIG_PERMISSION_ISSUE']),
    ...(canWriteFiles ? [] : ['ATTACH_PERMISSION_ISSUE']),
  ];
  const code = details.length === 0 ? 200 : 417;
  if (details.length === 0) details.push('OK');
  if (getResponseFormat(request) !== 'json') {
    response.status(code).type('text/plain').send(details.join(','));
    return;
  }
  sendJson(response, code, {
    config_lock: settings.configurationLock,
    attach_lock: false,
    stateful_enabled: settings.statefulMode !== 'disabled',
    max_attachments: settings.maxAttachments,
    attach_size: getMaxFileBytes(settings),
    status: {
      persistent_storage: true,
      can_write_config: canWriteConfigurations,
      can_write_attach: canWriteFiles,
      details,
    },
  });
}

/** Sends the supported services as JSON or as a page. */
async function sendDetails(
  { engineCatalogue }: RouteDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  const { services, ready } = await engineCatalogue.listServices();
  if (getResponseFormat(request) === 'json') sendJson(response, 200, describeServices(services, ready));
  else response.type('text/html').send(servicesPage(services, ready));
}

function describeTags(tags: readonly Tag[]) {
  const sorted = tags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { tags: sorted.map(({ name }) => name), tag_details: sorted.map(describeTag) };
}

function describeTag({ name, level = 0 }: Tag) {
  return { name, priority: level, token: level === 0 ? name : `${level}:${name}`, exact: `${level}:${name}` };
}
