import { Router } from 'express';
import type { QueueChange } from '../../contracts/downloads/api.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { bad } from '../wire/add.ts';
import { readPosition } from '../wire/queue-control.ts';
import { parseBody, parseIds } from './request-body.ts';

/** Adds routes that MeTube does not have: pausing, resuming and moving. They accept ids and respond like its routes. */
export function createQueueControlRoutes(queueControl: QueueControl): Router {
  const router = Router();
  router.post('/pause', async (request, response) => {
    response.json(toResponse(await queueControl.pause(parseSelection(parseBody(request))), 'pause'));
  });
  router.post('/resume', async (request, response) => {
    const change = await queueControl.resume(parseSelection(parseBody(request)));
    const waitMessage = change.paused ? { msg: 'They wait until the whole queue is resumed.' } : {};
    response.json({ ...waitMessage, ...toResponse(change, 'resume') });
  });
  router.post('/reorder', async (request, response) => {
    const body = parseBody(request);
    const position = readPosition(body);
    const isSingle = body['ids'] === undefined && typeof body['id'] === 'string' && body['id'] !== '';
    // An id requires a position.
    if (isSingle && ['before', 'after', 'position'].every((field) => body[field] === undefined)) {
      throw bad(`'id' needs one of 'before', 'after' and 'position'`);
    }
    const { uids, unknown } = await queueControl.reorder(isSingle ? [String(body['id'])] : parseIds(body), position);
    response.json({ status: 'ok', uids, ...(unknown.length === 0 ? {} : { unknown }) });
  });
  return router;
}

/** Parses the selected ids; undefined selects the whole queue. */
function parseSelection(body: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  return body['ids'] === undefined ? undefined : parseIds(body);
}

function toResponse({ uids, unknown, over, paused }: QueueChange, verb: 'pause' | 'resume'): Record<string, unknown> {
  const result =
    over.length === 0
      ? { status: 'ok' }
      : { status: 'error', msg: `There is nothing left to ${verb} of what has ended: ${over.join(', ')}` };
  return { ...result, uids, ...(unknown.length === 0 ? {} : { unknown }), paused };
}
