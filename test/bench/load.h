// What the programs of the load have in common. They are C on bare sockets: on a machine with two cores a dearer client
// would be what is measured.
#pragma once
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// An Apprise API puts into each answer what it logged for all its callers meanwhile.
enum { room = 512 * 1024, events_at_once = 512, opening_at_once = 32, patience_ms = 60000 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static inline void fail(const char *what) {
  fprintf(stderr, "load: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static void *room_for(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) fail("no memory");
  return memory;
}

static int dial(int port) {
  int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket_fd < 0 || connect(socket_fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  int yes = 1;
  setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return socket_fd;
}

static void say(int socket_fd, const char *text, size_t length) {
  if (write(socket_fd, text, length) != (ssize_t)length) fail("write");
}

static void watch(int epoll, int socket_fd, int index) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)index};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket_fd, &event) < 0) fail("epoll_ctl");
}

static int wait_for(int epoll, struct epoll_event *events) {
  int count = epoll_wait(epoll, events, events_at_once, patience_ms);
  if (count <= 0) fail("nothing came for a minute");
  return count;
}

static int ascending(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

static double share_of(double *sorted, int count, double share) {
  int at = (int)(count * share);
  return sorted[at < count ? at : count - 1];
}

static double cpu_ms(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/** Whether a message is there as a whole. Ends the program for one without a length; lets one without a body pass. */
static int is_whole(char *text, size_t length) {
  text[length] = '\0';
  char *body = strstr(text, "\r\n\r\n");
  if (body == NULL) return 0;
  char *field = strcasestr(text, "\r\ncontent-length:");
  if (field != NULL && field < body) return length >= (size_t)(body + 4 - text) + (size_t)atol(field + 17);
  char *chunked = strcasestr(text, "\r\ntransfer-encoding: chunked");
  if (chunked == NULL || chunked > body) fail("an answer without a length");
  return length >= 5 && strcmp(text + length - 5, "0\r\n\r\n") == 0;
}
