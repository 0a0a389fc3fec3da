import * as m from '#messages/gateway-problems';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { stripMappedPrefix } from '../domain/names.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import type { HttpChallenges } from '../acme/http-challenges.ts';
import { send, sendText } from '../pages/responses.ts';
import { handlePlainHttp } from './routes.ts';

interface RedirectDependencies {
  readonly log: Log;
  /** Returns the HTTPS port on an address of this computer. */
  readonly findHttpsPort: (address: string) => number | undefined;
  readonly httpChallenges: HttpChallenges;
  /** Returns true for addresses of admitted networks. */
  readonly isAdmittedAddress: (address: string) => boolean;
  readonly authority: Parameters<typeof handlePlainHttp>[2]['authority'];
}

/** Creates the HTTP listener without TLS. */
export function createRedirectHandler(deps: RedirectDependencies) {
  const { log, findHttpsPort, authority, httpChallenges, isAdmittedAddress } = deps;
  const httpsPort = ({ socket }: IncomingMessage): number | undefined =>
    findHttpsPort(stripMappedPrefix(socket.localAddress));
  return (request: IncomingMessage, response: ServerResponse): void => {
    const answer = httpChallenges.find(request.url ?? '');
    if (answer !== undefined) return send(response, { status: 200, type: 'application/octet-stream', body: answer });
    // Connections of other networks are accepted only for challenges.
    if (!isAdmittedAddress(stripMappedPrefix(request.socket.remoteAddress))) return void request.destroy();
    const language = negotiateRequestLanguage(request.headers['accept-language']);
    void runInLanguage(language, () =>
      handlePlainHttp(request, response, { httpsPort, authority }).catch((error: unknown) => {
        if (!(error instanceof Problem)) log.error('request failed', { event: 'request_failed', error });
        const [status, detail] =
          error instanceof Problem ? [error.status, error.detail] : [500, m.somethingWentWrong()];
        if (response.headersSent) response.destroy();
        else sendText(response, status, detail);
      }),
    );
  };
}
