import type { IncomingMessage, ServerResponse } from 'node:http';

const policyFor = (formAction: string): string =>
  `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`;

/**
 * Headers of pages with a form that signs in. Browsers apply `form-action` to every redirect that follows a form,
 * and the page that was requested first may lead to another address, such as that of the app.
 */
export const signInFormHeaders = { 'Content-Security-Policy': policyFor("'self' https: http:") } as const;

/** In addition for the page on which a passkey can be used: the only one with a script. */
export const scriptHeaders = {
  'Content-Security-Policy': `${signInFormHeaders['Content-Security-Policy']}; script-src 'self'`,
} as const;

/** What keeps pages of the gateway from being framed, scripted or kept. */
const pageHeaders = {
  'Content-Security-Policy': policyFor("'self'"),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** A page or a file of the gateway itself. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { readonly status: number; readonly type: string; readonly body: string; readonly headers?: Headers },
): void {
  response.writeHead(answer.status, {
    ...pageHeaders,
    'Content-Type': answer.type,
    'Content-Length': Buffer.byteLength(answer.body),
    ...(answer.headers as Record<string, string>),
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

export function sendHtml(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string,
  headers: Headers = {},
): void {
  send(request, response, { status, type: 'text/html; charset=utf-8', body, headers });
}

/** To a path of the same host, or to another address that does not come from the request. */
export function redirect(
  response: ServerResponse,
  status: 302 | 303 | 308,
  location: string,
  headers: Headers = {},
): void {
  response.writeHead(status, {
    ...pageHeaders,
    Location: location,
    'Content-Length': 0,
    ...(headers as Record<string, string>),
  });
  response.end();
}

/** Whether a person looks at the answer, rather than a program. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/**
 * Whether a browser sends a form of a page, whose answer a person sees. Programs accept anything, and scripts of a
 * page announce themselves in `Sec-Fetch-Mode`.
 */
export function sendsForm({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const mode = headers['sec-fetch-mode'];
  if (method !== 'POST' || headers.accept?.includes('text/html') !== true) return false;
  return mode === undefined || mode === 'navigate';
}
