import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ListenerHandler } from '../../../services/contracts/listeners.ts';
import { buildNotRunningProblem } from './refusal.ts';

/**
 * Creates the handlers of a listener whose service is loaded with its first request or connection, which wait until then.
 *
 * @param getHandler Returns the handlers of the loaded service.
 */
export function createLoadingHandler(
  load: () => Promise<unknown>,
  getHandler: () => ListenerHandler | undefined,
): Required<Pick<ListenerHandler, 'http' | 'tcp'>> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await load();
    if (response.destroyed) return;
    const handler = getHandler();
    if (handler?.http === undefined) throw buildNotRunningProblem();
    const result: unknown = handler.http(request, response);
    if (result instanceof Promise) await result;
  };
  return {
    // The listener answers requests whose promise rejects.
    http: (request, response) => answer(request, response) as unknown as void,
    tcp(socket, leaving) {
      load().then(
        () => {
          const handler = getHandler();
          if (handler?.tcp === undefined) socket.destroy();
          else if (!socket.destroyed) handler.tcp(socket, leaving);
        },
        () => socket.destroy(),
      );
    },
  };
}
