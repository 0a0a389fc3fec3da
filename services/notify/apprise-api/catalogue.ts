import { Router, type Request, type Response } from 'express';
import { parseQuery } from '../../kit/url-encoded.ts';
import { Problem } from '../../contracts/problem.ts';
import { destinationId } from '../destinations/catalogue.ts';
import { parseTagField, selectDestinations, type Tag } from '../domain/tags.ts';
import { largestFile } from '../settings.ts';
import { watchWritable } from './writable.ts';
import { sentences } from '../wire/notify.ts';
import { describeServices, servicesPage } from './details.ts';
import { queryTags, refusal } from './notification.ts';
import { answerKind, sendJson, sendNothing } from './response.ts';
import { identifyForKey, keyOf, onlyMethods, type RouteParts } from './request.ts';

/** `/json/urls`, `/status` and `/details`: what is configured, whether it works, what could be configured. */
export function catalogueRoutes(parts: RouteParts): Router {
  const { aggregator, context, engineCatalogue, settings } = parts;
  const tryWriting = watchWritable(context, parts);

  const listUrls = async (request: Request, response: Response): Promise<void> => {
    const key = keyOf(request);
    if (key === undefined) throw new Problem('notify.unknown_path', 404, sentences.notFound);
    const { isClosed, identity } = await identifyForKey(request, parts, key);
    if (isClosed && !context.accounts.may(identity, 'notify', 'read', key)) {
      throw refusal(403, sentences.denied);
    }
    const known = settings.statefulMode === 'disabled' ? undefined : await aggregator.find(key);
    if (known === undefined) {
      sendNothing(response);
      return;
    }
    const query = parseQuery(request.originalUrl.split('?').slice(1).join('?'));
    const isHidden = settings.configurationLock || (isClosed && identity?.role !== 'admin');
    const masked = isHidden || /^(1|y|t|on)/i.test(query.get('privacy') ?? '');
    const tag = parseTagField(queryTags(query));
    if (tag.kind === 'invalid') throw refusal(400, sentences.badTag);
    const chosen = selectDestinations(known.entries, tag.kind === 'none' ? undefined : tag.expression);
    sendJson(response, 200, {
      tags: [...new Set(chosen.flatMap(({ tags }) => tags.map(({ name }) => name)))],
      urls: chosen.map(({ destination, tags }) => ({
        id: destinationId(destination).slice(0, 8),
        service_name: destination.service,
        enabled: true,
        url: destination.url(masked),
        retry: 0,
        optional: destination.optional,
        ...describeTags(tags),
      })),
    });
  };

  const status = async (request: Request, response: Response): Promise<void> => {
    const { configurations: works, files: attaches } = await tryWriting();
    const details = [...(works ? [] : ['CONFIG_PERMISSION_ISSUE']), ...(attaches ? [] : ['ATTACH_PERMISSION_ISSUE'])];
    const code = details.length === 0 ? 200 : 417;
    if (details.length === 0) details.push('OK');
    if (answerKind(request) !== 'json') {
      response.status(code).type('text/plain').send(details.join(','));
      return;
    }
    sendJson(response, code, {
      config_lock: settings.configurationLock,
      attach_lock: false,
      stateful_enabled: settings.statefulMode !== 'disabled',
      max_attachments: settings.maxAttachments,
      attach_size: largestFile(settings),
      status: { persistent_storage: true, can_write_config: works, can_write_attach: attaches, details },
    });
  };

  const details = async (request: Request, response: Response): Promise<void> => {
    const { services, ready } = await engineCatalogue.services();
    if (answerKind(request) === 'json') sendJson(response, 200, describeServices(services, ready));
    else response.type('text/html').send(servicesPage(services, ready));
  };

  const router = Router();
  router.get(['/json/urls', '/json/urls/:key'], listUrls);
  router.get('/status', status);
  router.get('/details', details);
  router.all(['/json/urls', '/json/urls/:key', '/status', '/details'], onlyMethods('GET', 'HEAD'));
  return router;
}

function describeTags(tags: readonly Tag[]) {
  const sorted = tags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { tags: sorted.map(({ name }) => name), tag_details: sorted.map(describeTag) };
}

function describeTag({ name, level = 0 }: Tag) {
  return { name, priority: level, token: level === 0 ? name : `${level}:${name}`, exact: `${level}:${name}` };
}
