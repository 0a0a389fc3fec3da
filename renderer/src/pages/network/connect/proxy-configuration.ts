/** Configuration of a proxy that checks the sign-in at the gateway. */
export interface ForwardAuthProxy {
  readonly id: string;
  readonly name: string;
  readonly configuration: string;
}

/**
 * Returns the supported proxies with their configuration. `home` is the address of the gateway, such as
 * `https://nas.local:8443`. Both forward `/.homeport/`, so that the session cookie belongs to the host in the
 * browser, and both overwrite the identity headers, so that those of a client are not passed on. Uses `forward_auth`
 * of Caddy and `auth_request` of nginx.
 */
export function getForwardAuthProxies(gatewayUrl: string): readonly ForwardAuthProxy[] {
  return [
    {
      id: 'caddy',
      name: 'Caddy',
      configuration: `handle /.homeport/* {
  reverse_proxy ${gatewayUrl} {
    transport http {
      tls_trusted_ca_certs homeport.crt
    }
  }
}
handle {
  forward_auth ${gatewayUrl} {
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
      configuration: `location /.homeport/ {
  proxy_pass ${gatewayUrl};
  proxy_set_header Host $host;
  proxy_set_header X-Forwarded-Host $http_host;
  proxy_set_header X-Forwarded-Proto $scheme;
}
location = /.homeport/verify {
  internal;
  proxy_pass ${gatewayUrl};
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
