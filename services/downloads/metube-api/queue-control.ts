import { Router } from 'express';
import type { QueueChange } from '../../contracts/downloads/api.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { bad } from '../wire/add.ts';
import { readPlace } from '../wire/queue-control.ts';
import { bodyOf, idsOf } from './request-body.ts';

/** What the peer has no routes for: pausing, resuming and moving. They take ids and answer as its own routes do. */
export function queueControlRoutes(queueControl: QueueControl): Router {
  const router = Router();
  router.post('/pause', async (request, response) => {
    response.json(answer(await queueControl.pause(chosenOf(bodyOf(request))), 'pause'));
  });
  router.post('/resume', async (request, response) => {
    const steered = await queueControl.resume(chosenOf(bodyOf(request)));
    const waits = steered.paused ? { msg: 'They wait until the whole queue is resumed.' } : {};
    response.json({ ...waits, ...answer(steered, 'resume') });
  });
  router.post('/reorder', async (request, response) => {
    const body = bodyOf(request);
    const place = readPlace(body);
    const one = body['ids'] === undefined && typeof body['id'] === 'string' && body['id'] !== '';
    // An id alone says nothing about where to.
    if (one && ['before', 'after', 'position'].every((field) => body[field] === undefined)) {
      throw bad(`'id' needs one of 'before', 'after' and 'position'`);
    }
    const { uids, unknown } = await queueControl.reorder(one ? [String(body['id'])] : idsOf(body), place);
    response.json({ status: 'ok', uids, ...(unknown.length === 0 ? {} : { unknown }) });
  });
  return router;
}

/** The named ones; undefined: the whole queue. */
function chosenOf(body: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  return body['ids'] === undefined ? undefined : idsOf(body);
}

function answer({ uids, unknown, over, paused }: QueueChange, verb: 'pause' | 'resume'): Record<string, unknown> {
  const outcome =
    over.length === 0
      ? { status: 'ok' }
      : { status: 'error', msg: `There is nothing left to ${verb} of what has ended: ${over.join(', ')}` };
  return { ...outcome, uids, ...(unknown.length === 0 ? {} : { unknown }), paused };
}
