import * as m from '#messages/notify-forms';
import { encodeFiles } from '../files.ts';
import { defineScheme } from '../scheme.ts';
import { renameFields, webDefaults, buildWebForm, parseWebTarget } from './web.ts';
import { escapeXml } from '../../../kit/escape-xml.ts';

/** Schema of Apprise's XML notifications. */
const schema = 'https://raw.githubusercontent.com/caronc/apprise/master/apprise/assets/NotifyXML-1.1.xsd';

/** `xml://[user:password@]host[:port]/path`: posts the notification as XML to any web address. */
export const xmlKind = defineScheme({
  ...webDefaults,
  service: 'XML',
  label: 'xml',
  protocols: ['xml'],
  secureProtocols: ['xmls'],
  form: buildWebForm(m.xmlAbout),
  open(address) {
    const target = parseWebTarget(address);
    if (typeof target === 'string') return target;
    const { method, headers } = target;
    return {
      noun: `XML ${method}`,
      async send({ title, body, type, attachments = [] }, { request }) {
        const payload = { Version: '1.1', Subject: title, Message: body, MessageType: type };
        const elements = Object.entries(renameFields<string>(payload, address.url.fields))
          .filter(([name]) => /^[\p{L}_][\p{L}\p{N}._-]*$/u.test(name))
          .map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`);
        const files = (await encodeFiles(attachments)).map(
          ({ filename, base64, mimetype }) =>
            `<Attachment filename="${escapeXml(filename)}" mimetype="${escapeXml(mimetype)}">${base64}</Attachment>`,
        );
        const attachmentsElement =
          files.length === 0 ? '' : `<Attachments format="base64">${files.join('')}</Attachments>`;
        const hasNoBody = method === 'GET' || method === 'HEAD';
        await request({
          method,
          url: target.address,
          headers: { 'content-type': 'application/xml', ...headers },
          ...(hasNoBody ? {} : { body: buildEnvelope(elements.join(''), attachmentsElement) }),
        });
      },
    };
  },
});

function buildEnvelope(elements: string, attachmentsElement: string): string {
  return `<?xml version='1.0' encoding='utf-8'?>
<soapenv:Envelope
    xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <soapenv:Body>
        <Notification xmlns:xsi="${schema}">
            ${elements}
            ${attachmentsElement}
       </Notification>
    </soapenv:Body>
</soapenv:Envelope>`;
}
