import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import { readJson } from '../exchange.ts';
import { fileParts } from '../files.ts';
import { choiceField, requiredField, secretField, serverFields, textField } from '../fields.ts';
import { postJson, postParts } from '../http.ts';
import { isYes } from '../options.ts';
import { defineScheme, type Send } from '../scheme.ts';
import { measureLength } from '../../domain/text/split.ts';

const Media = z.object({ id: z.union([z.string(), z.number()]).transform(String) });
const visibilities = ['direct', 'private', 'unlisted', 'public'];

/** `mastodon://token@host[/@person]`: a post with the visibility of the URL. */
export const mastodonKind = defineScheme({
  service: 'Mastodon',
  label: 'mastodon',
  protocols: ['mastodon', 'toot'],
  secureProtocols: ['mastodons', 'toots'],
  templates: ['{schema}://{token}@{host}', '{schema}://{token}@{host}:{port}/{targets}'],
  args: ['visibility', 'spoiler', 'language', 'sensitive'],
  partArguments: { token: 'user' },
  files: true,
  titleLimit: 0,
  bodyLimit: 500,
  overflow: 'split',
  form: {
    about: m.mastodonAbout,
    fields: [
      ...serverFields,
      requiredField(secretField('token', m.accessToken, 'user', m.mastodonTokenHelp)),
      textField('people', m.mentions, 'targets', m.mastodonMentionsHelp),
      choiceField('visibility', m.visibility, 'query:visibility', [
        ['', m.accountDefault],
        ['direct', m.mentionedOnly],
        ['private', m.followers],
        ['unlisted', m.publicUnlisted],
        ['public', m.publicListed],
      ]),
    ],
  },
  open({ url, origin, targets, argument }) {
    if (!url.user) return problems.addressIncomplete({ example: 'mastodon://token@host' });
    const visibility = argument('visibility')?.toLowerCase();
    const selectedVisibility = visibilities.find((each) => each === visibility);
    if (visibility !== undefined && visibility !== 'default' && selectedVisibility === undefined) {
      return problems.argumentInvalid({ name: 'visibility', values: visibilities.join(', ') });
    }
    const authorization = `Bearer ${url.user}`;
    const mentions = targets.map((name) => `@${name.replace(/^@/, '')}`).join(' ');
    const send: Send = async ({ id, body, attachments = [] }, { request, boundary }) => {
      const media: string[] = [];
      for (const part of await fileParts(attachments.slice(0, 4), () => 'file')) {
        const uploadRequest = postParts(`${origin}/api/v1/media`, { description: part.name }, [part], boundary(), {
          authorization,
        });
        const upload = readJson(await request(uploadRequest), Media);
        if (upload !== undefined) media.push(upload.id);
      }
      const status = {
        status: [mentions, body].filter((part) => part !== '').join(' '),
        sensitive: isYes(argument('sensitive'), false),
        ...(argument('language') === undefined ? {} : { language: argument('language') }),
        ...(selectedVisibility === undefined ? {} : { visibility: selectedVisibility }),
        ...(argument('spoiler') === undefined ? {} : { spoiler_text: argument('spoiler') }),
        ...(media.length === 0 ? {} : { media_ids: media }),
      };
      // The server returns the first post for a repeated idempotency key.
      await request(postJson(`${origin}/api/v1/statuses`, status, { authorization, 'idempotency-key': id }));
    };
    return { send, reservedLength: mentions === '' ? 0 : measureLength(mentions) + 1 };
  },
});
