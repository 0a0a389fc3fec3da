import * as m from '#messages/notify-forms';
import { fileParts, formatPartName } from '../files.ts';
import { formBody, postParts } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { renameFields, webDefaults, buildWebForm, parseWebTarget } from './web.ts';

/** `form://[user:password@]host[:port]/path`: posts the notification as a web form, with files as parts of it. */
export const formKind = defineScheme({
  ...webDefaults,
  service: 'Form',
  label: 'form',
  protocols: ['form'],
  secureProtocols: ['forms'],
  args: ['method', 'attach-as'],
  form: buildWebForm(m.formAbout),
  open(address) {
    const target = parseWebTarget(address);
    if (typeof target === 'string') return target;
    const { method, headers } = target;
    const name = address.argument('attach-as');
    const field = (index: number): string =>
      name === undefined ? formatPartName(index) : name.replaceAll('*', String(index + 1));
    return {
      noun: `Form ${method}`,
      async send({ title, body, type, attachments = [] }, { request, boundary }) {
        const pairs = renameFields<string>({ version: '1.0', title, message: body, type }, address.url.fields);
        if (method === 'GET' || method === 'HEAD') {
          const separator = target.address.includes('?') ? '&' : '?';
          await request({ method, url: `${target.address}${separator}${formBody(pairs)}`, headers });
        } else if (attachments.length === 0) {
          const type = { 'content-type': 'application/x-www-form-urlencoded' };
          await request({ method, url: target.address, headers: { ...type, ...headers }, body: formBody(pairs) });
        } else {
          const files = await fileParts(attachments, field);
          await request({ ...postParts(target.address, pairs, files, boundary(), headers), method });
        }
      },
    };
  },
});
