import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { formatField, requiredField, secretField, serverFields, textField } from '../fields.ts';
import { postJson } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart } from '../url.ts';

/** `mmost://[name@]host[:port]/[path/]hook?to=channel`. */
export const mattermostKind = defineScheme({
  service: 'Mattermost',
  label: 'mmost',
  protocols: ['mmost'],
  secureProtocols: ['mmosts'],
  templates: [
    '{schema}://{host}/{token}',
    '{schema}://{botname}@{host}:{port}/{token}',
    '{schema}://{host}/{fullpath}/{token}',
  ],
  args: ['to', 'icon_url'],
  movedArguments: ['channel', 'channels'],
  partArguments: { botname: 'user' },
  titleLimit: 0,
  bodyLimit: 4000,
  overflow: 'split',
  form: {
    about: m.mattermostAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('hook', m.webhook, 'last', m.mattermostWebhookHelp)),
      textField('channels', m.channels, 'query:to', m.webhookChannelsHelp),
      textField('name', m.displayName, 'user'),
      textField('icon', m.picture, 'query:icon_url', m.pictureHelp),
      formatField,
    ],
  },
  normalize(url) {
    const query = new Map(url.query);
    const channels = ['to', 'channel', 'channels'].flatMap((name) => query.get(name)?.split(/[\s,]+/) ?? []);
    for (const name of ['channel', 'channels', 'to']) query.delete(name);
    const normalizedChannels = channels
      .filter((each) => each !== '')
      .map((each) => (/^[#@]/.test(each) ? each : `#${each}`));
    if (normalizedChannels.length > 0) query.set('to', normalizedChannels.join(','));
    return { ...url, query };
  },
  open({ url, origin, argument }) {
    const hook = url.path.at(-1);
    if (hook === undefined) return problems.addressIncomplete({ example: 'mmost://host/hook' });
    const path = url.path.slice(0, -1).filter((each, index, all) => !(each === 'hooks' && index === all.length - 1));
    const address = `${origin}${[...path, 'hooks', hook].map((each) => `/${encodePart(each)}`).join('')}`;
    const channels = argument('to')?.split(',') ?? [undefined];
    const icon = argument('icon_url');
    const sender = {
      ...(url.user === undefined ? {} : { username: url.user }),
      ...(icon === undefined ? {} : { icon_url: icon }),
    };
    return async ({ body }, { request, once }) => {
      for (const channel of channels) {
        const channelField = channel === undefined ? {} : { channel: channel.replace(/^#/, '') };
        await once(channel ?? '', () => request(postJson(address, { text: body, ...sender, ...channelField })));
      }
    };
  },
});
