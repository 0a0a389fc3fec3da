import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import type { Settings } from '../settings.ts';

/** Returns the message with addresses of this server as the owner of a browser subscription reaches them. */
export type ReceiverAddresses = (message: Message, subscriptionBase: string) => Message;

/**
 * Rewrites attachments, icons, links and actions that lead to this server: a stored address is the one for programs on
 * this computer, which the browser may not reach. A configured base address applies to all clients.
 */
export function createReceiverAddresses(
  { address, appPages }: Pick<Context, 'address' | 'appPages'>,
  settings: Readonly<Pick<Settings, 'baseUrl'>>,
): ReceiverAddresses {
  const storedBase = (): string | undefined => (settings.baseUrl === '' ? address('push') : undefined);
  /** Returns the base address for subscriptions of Homeport's own page, which do not have one. */
  const sharedBase = (): string | undefined => appPages.serviceForMessages('push');
  return (message, subscriptionBase) => {
    const from = storedBase();
    if (from === undefined) return message;
    const isLocal = (url: string | undefined): boolean => url === from || url?.startsWith(`${from}/`) === true;
    // Most messages contain no address of this server, and the shared address takes time to compute.
    if (!listAddresses(message).some(isLocal)) return message;
    const to = subscriptionBase || sharedBase();
    if (to === undefined || from === to) return message;
    const rewrite = (url: string): string => (isLocal(url) ? `${to}${url.slice(from.length)}` : url);
    const { attachment, click, icon, actions } = message;
    return {
      ...message,
      ...(click === undefined ? {} : { click: rewrite(click) }),
      ...(icon === undefined ? {} : { icon: rewrite(icon) }),
      ...(actions === undefined
        ? {}
        : {
            actions: actions.map((action) =>
              action.url === undefined ? action : { ...action, url: rewrite(action.url) },
            ),
          }),
      ...(attachment === undefined ? {} : { attachment: { ...attachment, url: rewrite(attachment.url) } }),
    };
  };
}

function listAddresses({ attachment, click, icon, actions = [] }: Message): readonly (string | undefined)[] {
  return [attachment?.url, click, icon, ...actions.map(({ url }) => url)];
}
