import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { createHash, createHmac } from 'node:crypto';
import { requiredField, secretField, textField } from '../fields.ts';
import type { HttpRequest } from '../http.ts';
import { withPath } from '../url-fields.ts';
import { defineScheme } from '../scheme.ts';
import type { DestinationUrl } from '../url.ts';

const region = /^[a-z]{2}(-gov)?-[a-z]+-\d$/;
const contentType = 'application/x-www-form-urlencoded; charset=utf-8';

/** Joins the segments before the region, because a secret key may contain slashes. */
function arrange(url: DestinationUrl): DestinationUrl {
  const regionIndex = url.path.findIndex((segment) => region.test(segment));
  if (regionIndex < 1) return url;
  const targets = url.path.slice(regionIndex + 1).map((each) => (/^\d{7,15}$/.test(each) ? `+${each}` : each));
  return withPath(url, [url.path.slice(0, regionIndex).join('/'), url.path[regionIndex] ?? '', ...targets]);
}

function encodeAws(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Builds a request with AWS signature version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
function buildSignedRequest(
  pairs: Readonly<Record<string, string>>,
  awsRegion: string,
  keys: readonly [string, string],
  now: number,
): HttpRequest {
  const host = `sns.${awsRegion}.amazonaws.com`;
  const body = Object.entries(pairs)
    .map(([name, value]) => `${encodeAws(name)}=${encodeAws(value)}`)
    .join('&');
  const date = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const signedHeaders = 'content-type;host;x-amz-date';
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const headers = `content-type:${contentType}\nhost:${host}\nx-amz-date:${date}\n`;
  const canonicalRequest = ['POST', '/', '', headers, signedHeaders, sha256(body)].join('\n');
  const scope = `${day}/${awsRegion}/sns/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonicalRequest)].join('\n');
  const key = [day, awsRegion, 'sns', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${keys[1]}`,
  );
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${keys[0]}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
  return {
    method: 'POST',
    url: `https://${host}/`,
    headers: { 'content-type': contentType, authorization, 'x-amz-date': date },
    body,
  };
}

/** `sns://access_key_id/secret_access_key/region/+phone|#topic`. */
export const snsKind = defineScheme({
  service: 'AWS Simple Notification Service (SNS)',
  label: 'sns',
  handlesLink: true,
  protocols: [],
  secureProtocols: ['sns'],
  templates: ['{schema}://{access_key_id}/{secret_access_key}/{region}/{targets}'],
  titleLimit: 0,
  bodyLimit: 1600,
  perTarget: true,
  normalize: arrange,
  form: {
    about: m.snsAbout,
    fixedSegments: 2,
    fields: [
      requiredField(secretField('id', m.accessKeyId, 'host')),
      requiredField(secretField('key', m.secretAccessKey, 'segment:0')),
      requiredField(textField('region', m.region, 'segment:1', m.snsRegionHelp)),
      requiredField(textField('to', m.recipients, 'targets', m.snsRecipientsHelp)),
    ],
  },
  open({ url, targets }) {
    const [secret, awsRegion] = url.path;
    const [target] = targets;
    if (url.host === '' || secret === undefined || awsRegion === undefined || !region.test(awsRegion)) {
      return problems.addressIncomplete({ example: 'sns://access_key_id/secret_access_key/region/+phone' });
    }
    if (target === undefined || !/^(\+\d{7,15}|#?[\w-]{1,256})$/.test(target)) return problems.recipientMissing();
    const keys = [url.host, secret] as const;
    const version = { Version: '2010-03-31' };
    return async ({ body }, { request, fail, outlets }) => {
      const publish = (pairs: Readonly<Record<string, string>>) =>
        request(buildSignedRequest(pairs, awsRegion, keys, outlets.clock.now()));
      const message = { Action: 'Publish', Message: body, ...version };
      if (target.startsWith('+')) return publish({ ...message, PhoneNumber: target });
      // CreateTopic returns the topic if it already exists.
      const topic = await publish({ Action: 'CreateTopic', Name: target.replace(/^#/, ''), ...version });
      const name = /<TopicArn>([^<]+)<\/TopicArn>/.exec(Buffer.from(topic.body).toString('utf8'))?.[1];
      return name === undefined
        ? fail('there is no such topic', false, 'unknown_topic')
        : publish({ ...message, TopicArn: name });
    };
  },
});
