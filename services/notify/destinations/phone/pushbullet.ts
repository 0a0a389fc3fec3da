import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import type { Attachment } from '../../domain/message.ts';
import { readJson, type Exchange } from '../exchange.ts';
import { untypedParts } from '../files.ts';
import { requiredField, secretField, textField } from '../fields.ts';
import { postJson, postParts } from '../http.ts';
import { defineScheme } from '../scheme.ts';

const api = 'https://api.pushbullet.com/v2';
/** https://docs.pushbullet.com/#upload-request */
const Upload = z.object({
  file_name: z.string(),
  file_type: z.string(),
  file_url: z.string(),
  upload_url: z.string(),
});

/**
 * Uploads a file.
 *
 * @returns the fields of the push for the file.
 */
async function upload({ request, fail, boundary }: Exchange, file: Attachment, authorization: string) {
  const uploadRequest = postJson(
    `${api}/upload-request`,
    { file_name: file.name, file_type: file.type },
    { authorization },
  );
  const uploadTarget = readJson(await request(uploadRequest), Upload);
  if (uploadTarget === undefined) return fail('no place for a file', false, 'unexpected_reply');
  const formParts = await untypedParts([file], () => 'file');
  await request({
    ...postParts(uploadTarget.upload_url, {}, formParts, boundary(), { authorization }),
    untrusted: true,
  });
  const { file_name, file_type, file_url } = uploadTarget;
  const imageField = file_type.startsWith('image/') ? { image_url: file_url } : {};
  return { type: 'file', file_name, file_type, file_url, ...imageField };
}

/** `pbul://token[/#channel|email|device]`: all devices, or the named targets. */
export const pushbulletKind = defineScheme({
  service: 'Pushbullet',
  label: 'pbul',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['pbul'],
  templates: ['{schema}://{accesstoken}', '{schema}://{accesstoken}/{targets}'],
  files: true,
  titleLimit: 250,
  bodyLimit: 32_768,
  perTarget: true,
  form: {
    about: m.pushbulletAbout,
    fields: [
      requiredField(secretField('token', m.accessToken, 'host', m.pushbulletTokenHelp)),
      textField('targets', m.recipients, 'targets', m.pushbulletRecipientsHelp),
    ],
  },
  open({ url, targets }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'pbul://token' });
    const [target] = targets;
    const authorization = `Basic ${Buffer.from(`${url.host}:`).toString('base64')}`;
    const targetField = target === undefined ? {} : buildTargetField(target);
    return async ({ title, body, link, attachments = [] }, exchange) => {
      const files = [];
      for (const file of attachments) files.push(await upload(exchange, file, authorization));
      const linkFields = link === undefined ? { type: 'note' } : { type: 'link', url: link };
      const push = (fields: object) =>
        exchange.request(postJson(`${api}/pushes`, { ...fields, ...targetField }, { authorization }));
      await exchange.once('text', () => push({ ...linkFields, title, body }));
      for (const [index, file] of files.entries()) await exchange.once(`file ${String(index)}`, () => push(file));
    };
  },
});

function buildTargetField(target: string): Readonly<Record<string, string>> {
  if (target.startsWith('#')) return { channel_tag: target.slice(1) };
  return target.includes('@') ? { email: target.replace(/^@/, '') } : { device_iden: target };
}
