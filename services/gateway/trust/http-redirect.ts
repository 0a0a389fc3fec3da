import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { send } from '../proxy/responses.ts';
import { answerPlain } from './routes.ts';

interface PlainParts {
  readonly log: Log;
  /** Returns the HTTPS port on an address of this computer. */
  readonly httpsPortOf: (address: string) => number | undefined;
  readonly authority: Parameters<typeof answerPlain>[2]['authority'];
}

/** Creates the HTTP listener without TLS. */
export function plainDoor({ log, httpsPortOf, authority }: PlainParts) {
  const httpsPort = ({ socket }: IncomingMessage): number | undefined =>
    httpsPortOf((socket.localAddress ?? '').replace(/^::ffff:/, ''));
  return (request: IncomingMessage, response: ServerResponse): void => {
    answerPlain(request, response, { httpsPort, authority }).catch((error: unknown) => {
      if (!(error instanceof Problem)) log.error('request failed', { error });
      const [status, detail] = error instanceof Problem ? [error.status, error.detail] : [500, 'Something went wrong.'];
      if (response.headersSent) response.destroy();
      else send(request, response, { status, type: 'text/plain; charset=utf-8', body: `${detail}\n` });
    });
  };
}
