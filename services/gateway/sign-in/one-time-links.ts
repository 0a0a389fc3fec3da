import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OneTimeLinkPurpose } from '../../contracts/control/one-time-links.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { scriptHeaders, sendHtml } from '../pages/responses.ts';
import { renderInvalidLinkPage, renderLinkForm, renderLinkOpeningPage } from './one-time-link-pages.ts';
import type { SignInRoutes } from './routes.ts';

interface OneTimeLinkDependencies {
  readonly context: Pick<Context, 'accounts' | 'caller'>;
  readonly signIn: Pick<SignInRoutes, 'readForm' | 'signInWithPassword'>;
}

/** Serves the page for invitations and password links, for devices that reach the app only through the gateway. */
export class OneTimeLinkRoutes {
  readonly #deps: OneTimeLinkDependencies;

  constructor(deps: OneTimeLinkDependencies) {
    this.#deps = deps;
  }

  /**
   * Handles a request for the page.
   * @throws Problem 403, 405, 413, 429
   */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' || request.method === 'HEAD') {
      sendHtml(response, 200, renderLinkOpeningPage(), scriptHeaders);
      return;
    }
    const { context, signIn } = this.#deps;
    const form = await signIn.readForm(request);
    const [token, password] = [form.get('token') ?? '', form.get('password')];
    const { remoteAddress } = context.caller(request);
    let purpose: OneTimeLinkPurpose | undefined;
    try {
      purpose = await context.accounts.oneTimeLinks.open(token, remoteAddress);
      if (password === null) {
        sendHtml(response, 200, renderLinkForm({ token, purpose }));
        return;
      }
      const input = { name: (form.get('name') ?? '').trim(), password };
      const name = await context.accounts.oneTimeLinks.use(token, input, remoteAddress);
      await signIn.signInWithPassword(request, response, { name, password, returnPath: '/', serviceTitle: undefined });
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      this.#sendError(response, error, { token, purpose, name: form.get('name') ?? undefined });
    }
  }

  /** Sends the form again, or a page without a form when the link no longer works. */
  #sendError(
    response: ServerResponse,
    error: Problem,
    {
      token,
      purpose,
      name,
    }: {
      readonly token: string;
      readonly purpose: OneTimeLinkPurpose | undefined;
      readonly name: string | undefined;
    },
  ): void {
    const isOver = purpose === undefined || error.code === 'accounts.link_invalid';
    const page = isOver
      ? renderInvalidLinkPage(error.detail)
      : renderLinkForm({ token, purpose, name: name?.slice(0, 64), error: error.detail });
    sendHtml(response, error.status, page, error.headers);
  }
}
