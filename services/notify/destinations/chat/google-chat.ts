import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { requiredField, secretField, textField } from '../fields.ts';
import { postJson, withQuery } from '../http.ts';
import { defineScheme } from '../scheme.ts';

/** `gchat://space/key/token[/thread]`: a webhook of Google Chat. */
export const googleChatKind = defineScheme({
  service: 'Google Chat',
  label: 'gchat',
  protocols: [],
  secureProtocols: ['gchat'],
  templates: [
    '{schema}://{workspace}/{webhook_key}/{webhook_token}',
    '{schema}://{workspace}/{webhook_key}/{webhook_token}/{thread_key}',
  ],
  partArguments: { workspace: 'host', key: 0, token: 1, threadkey: 2, thread: 2 },
  format: 'markdown',
  dialect: { markdown: 'googleChat', html: 'googleChat' },
  titleLimit: 0,
  bodyLimit: 4000,
  overflow: 'split',
  heading: (title) => `*${title}*\n`,
  form: {
    about: m.googleChatAbout,
    fixedSegments: 2,
    fields: [
      requiredField(secretField('space', m.space, 'host', m.googleChatSpaceHelp)),
      requiredField(secretField('key', m.key, 'segment:0', m.googleChatKeyHelp)),
      requiredField(secretField('token', m.token, 'segment:1', m.googleChatTokenHelp)),
      textField('thread', m.thread, 'targets', m.threadNameHelp),
    ],
  },
  open({ url, targets }) {
    const [key, token] = url.path;
    if (url.host === '' || key === undefined || token === undefined)
      return problems.addressIncomplete({ example: 'gchat://space/key/token' });
    const [thread] = targets;
    const replyOption = thread === undefined ? undefined : 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD';
    const space = `https://chat.googleapis.com/v1/spaces/${encodeURIComponent(url.host)}/messages`;
    const address = withQuery(space, { token, key, messageReplyOption: replyOption });
    const threadField = thread === undefined ? {} : { thread: { thread_key: thread } };
    return ({ body }, { request }) => request(postJson(address, { text: body, ...threadField }));
  },
});
