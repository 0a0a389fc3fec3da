import * as m from '#messages/control-problems';
import { implement, type ApiHandler } from '../contracts/api.ts';
import type { Identity } from '../contracts/control/accounts.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { oneTimeLinkApi } from '../contracts/control/one-time-link-routes.ts';
import type { CreatedOneTimeLink } from '../contracts/control/one-time-links.ts';
import { Problem } from '../contracts/problem.ts';
import type { SignedInReply } from './session-reply.ts';

interface OneTimeLinkDependencies {
  readonly context: Pick<ControlContext, 'accounts' | 'host'>;
  /** Signs in, and ends the session with which it was requested. */
  readonly signIn: (
    credentials: { readonly name: string; readonly password: string },
    request: {
      readonly identity: Identity | undefined;
      readonly remoteAddress: string;
      readonly userAgent: string;
    },
  ) => Promise<SignedInReply>;
}

/** Routes about invitations and links that set a new password. */
export function oneTimeLinkRoutes({ context, signIn }: OneTimeLinkDependencies): readonly ApiHandler[] {
  const { accounts, host } = context;
  const links = accounts.oneTimeLinks;
  const withUrls = ({ link, token }: CreatedOneTimeLink) => ({
    link,
    // The fragment stays in the browser: no server and no log receives it.
    urls: host.oneTimeLinkPages().map((page) => `${page}#${token}`),
  });
  return [
    implement(oneTimeLinkApi.list, async () => ({ links: [...(await links.list())] })),
    implement(oneTimeLinkApi.invite, async ({ identity, body }) =>
      withUrls(await links.createInvitation(body, identity?.account ?? '')),
    ),
    implement(oneTimeLinkApi.reset, async ({ identity, params, body }) => {
      const name = params['name'] ?? '';
      // A page that was left open must not be enough to take over the account that is signed in.
      if (name === identity?.account) throw new Problem('accounts.own_password_link', 409, m.ownPasswordLink());
      return withUrls(await links.createReset(name, { ...body, createdBy: identity?.account ?? '' }));
    }),
    implement(oneTimeLinkApi.revoke, async ({ params }) => {
      await links.revoke(params['id'] ?? '');
      return { ok: true } as const;
    }),
    implement(oneTimeLinkApi.open, ({ body, remoteAddress }) => links.open(body.token, remoteAddress)),
    implement(oneTimeLinkApi.use, async (request) => {
      const { token, name, password } = request.body;
      const account = await links.use(token, { name, password }, request.remoteAddress);
      return signIn({ name: account, password }, request);
    }),
  ];
}
