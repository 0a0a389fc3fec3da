import type { QueueChange } from '../../contracts/downloads/api.ts';
import type { Route } from '../../kit/http/listener.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { bad } from '../wire/add.ts';
import { readPosition } from '../wire/queue-control.ts';
import { postRoute } from './post-route.ts';
import { parseIds, type RequestBody } from './request-body.ts';

/** Returns routes that MeTube does not have: pausing, resuming and moving. They respond like its routes. */
export function createQueueControlRoutes(queueControl: QueueControl): readonly Route[] {
  return [
    postRoute('/pause', async (body) => toResponse(await queueControl.pause(parseSelection(body)), 'pause')),
    postRoute('/resume', async (body) => {
      const change = await queueControl.resume(parseSelection(body));
      const waitMessage = change.paused ? { msg: 'They wait until the whole queue is resumed.' } : {};
      return { ...waitMessage, ...toResponse(change, 'resume') };
    }),
    postRoute('/reorder', async (body) => {
      const position = readPosition(body);
      const isSingle = body['ids'] === undefined && typeof body['id'] === 'string' && body['id'] !== '';
      // An id requires a position.
      if (isSingle && ['before', 'after', 'position'].every((field) => body[field] === undefined)) {
        throw bad(`'id' needs one of 'before', 'after' and 'position'`);
      }
      const { uids, unknown } = await queueControl.reorder(isSingle ? [String(body['id'])] : parseIds(body), position);
      return { status: 'ok', uids, ...(unknown.length === 0 ? {} : { unknown }) };
    }),
  ];
}

/** Parses the selected ids; undefined selects the whole queue. */
function parseSelection(body: RequestBody): readonly string[] | undefined {
  return body['ids'] === undefined ? undefined : parseIds(body);
}

function toResponse({ uids, unknown, over, paused }: QueueChange, verb: 'pause' | 'resume'): Record<string, unknown> {
  const result =
    over.length === 0
      ? { status: 'ok' }
      : { status: 'error', msg: `There is nothing left to ${verb} of what has ended: ${over.join(', ')}` };
  return { ...result, uids, ...(unknown.length === 0 ? {} : { unknown }), paused };
}
