import type { IncomingMessage } from 'node:http';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import type { Reply } from '../../kit/http/respond.ts';
import { parseQuery } from '../../kit/http/url-encoded.ts';
import { Problem } from '../../contracts/problem.ts';
import { destinationId } from '../destinations/catalogue.ts';
import { parseTagField, selectDestinations, type Tag } from '../domain/tags.ts';
import { getMaxFileBytes } from '../settings.ts';
import { createWriteCheck, type WriteCheck } from './writable.ts';
import { sentences } from '../wire/notify.ts';
import { describeServices, servicesPage } from './details.ts';
import { queryTags, refusal } from './notification.ts';
import { emptyReply, getResponseFormat, jsonReply, textReply } from './response.ts';
import { getKey, identifyForKey, refuseOtherMethods, type RouteDependencies } from './request.ts';

/** Handles `/json/urls` (configured destinations), `/status` (health) and `/details` (supported services). */
export function catalogueRoutes(dependencies: RouteDependencies): readonly Route[] {
  const tryWriting = createWriteCheck(dependencies.context, dependencies.stores);
  const list = (exchange: Exchange): Promise<Reply> => listUrls(dependencies, exchange);
  return [
    { method: 'GET', path: '/json/urls', handle: list },
    { method: 'GET', path: '/json/urls/:key', handle: list },
    {
      method: 'GET',
      path: '/status',
      handle: async ({ request }) => statusReply(dependencies.settings, await tryWriting(), request),
    },
    { method: 'GET', path: '/details', handle: ({ request }) => listServices(dependencies, request) },
    ...refuseOtherMethods(['/json/urls', '/json/urls/:key', '/status', '/details'], ['GET', 'HEAD']),
  ];
}

/** Lists the destinations of a key. Secrets are masked unless the caller may see them. */
async function listUrls(dependencies: RouteDependencies, exchange: Exchange): Promise<Reply> {
  const { request } = exchange;
  const { aggregator, context, settings } = dependencies;
  const key = getKey(exchange);
  if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
  const { isClosed, identity } = await identifyForKey(request, dependencies, key);
  if (isClosed && !context.accounts.may(identity, 'notify', 'read', key)) {
    throw refusal(403, sentences.denied);
  }
  const parsedKey = settings.statefulMode === 'disabled' ? undefined : await aggregator.find(key);
  if (parsedKey === undefined) return emptyReply;
  const query = parseQuery((request.url ?? '').split('?').slice(1).join('?'));
  const hidesSecrets = settings.configurationLock || (isClosed && identity?.role !== 'admin');
  const masked = hidesSecrets || /^(1|y|t|on)/i.test(query.get('privacy') ?? '');
  const tag = parseTagField(queryTags(query));
  if (tag.kind === 'invalid') throw refusal(400, sentences.badTag);
  const selected = selectDestinations(parsedKey.entries, tag.kind === 'none' ? undefined : tag.expression);
  return jsonReply(200, {
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

/** Builds the state of the service, with 417 when configurations or files cannot be written. */
function statusReply(settings: RouteDependencies['settings'], writable: WriteCheck, request: IncomingMessage): Reply {
  const { configurations: canWriteConfigurations, files: canWriteFiles } = writable;
  const details = [
    ...(canWriteConfigurations ? [] : ['CONFIG_PERMISSION_ISSUE']),
    ...(canWriteFiles ? [] : ['ATTACH_PERMISSION_ISSUE']),
  ];
  const code = details.length === 0 ? 200 : 417;
  if (details.length === 0) details.push('OK');
  if (getResponseFormat(request) !== 'json') return textReply(code, details.join(','));
  return jsonReply(code, {
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

/** Lists the supported services as JSON or as a page. */
async function listServices({ engineCatalogue }: RouteDependencies, request: IncomingMessage): Promise<Reply> {
  const { services, ready } = await engineCatalogue.listServices();
  if (getResponseFormat(request) === 'json') return jsonReply(200, describeServices(services, ready));
  return textReply(200, servicesPage(services, ready), 'text/html; charset=utf-8');
}

function describeTags(tags: readonly Tag[]) {
  const sorted = tags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { tags: sorted.map(({ name }) => name), tag_details: sorted.map(describeTag) };
}

function describeTag({ name, level = 0 }: Tag) {
  return { name, priority: level, token: level === 0 ? name : `${level}:${name}`, exact: `${level}:${name}` };
}
