/** A proxy in front of what is none of Homeport's, and the lines that let it ask the gateway who is signed in. */
export interface AskingProxy {
  readonly id: string;
  readonly name: string;
  readonly lines: string;
}

/**
 * The proxies that ask, each with its lines. `home`: the gateway's address, such as `https://nas.local:8443`. Both hand
 * `/.homeport/` on, so that the sign-in's cookie is of the host that the browser sees, and both set what they tell of who it
 * is: what a browser sends of that goes no further. Caddy's `forward_auth`, nginx's `auth_request`.
 */
export function askingProxies(home: string): readonly AskingProxy[] {
  return [
    {
      id: 'caddy',
      name: 'Caddy',
      lines: `handle /.homeport/* {
  reverse_proxy ${home} {
    transport http {
      tls_trusted_ca_certs homeport.crt
    }
  }
}
handle {
  forward_auth ${home} {
    uri /.homeport/verify
    copy_headers Remote-User Remote-Groups
    transport http {
      tls_trusted_ca_certs homeport.crt
    }
  }
  reverse_proxy 192.168.1.5:2342
}`,
    },
    {
      id: 'nginx',
      name: 'nginx',
      lines: `location /.homeport/ {
  proxy_pass ${home};
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
}
location = /.homeport/verify {
  internal;
  proxy_pass ${home};
  proxy_pass_request_body off;
  proxy_set_header Content-Length "";
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Method $request_method;
  proxy_set_header X-Forwarded-Uri "";
}
location / {
  auth_request /.homeport/verify;
  auth_request_set $account $upstream_http_remote_user;
  auth_request_set $groups $upstream_http_remote_groups;
  error_page 401 = @sign_in;
  proxy_set_header Remote-User $account;
  proxy_set_header Remote-Groups $groups;
  proxy_pass http://192.168.1.5:2342;
}
location @sign_in {
  return 302 /.homeport/sign-in?to=$request_uri;
}`,
    },
  ];
}
