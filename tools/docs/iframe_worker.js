// SPDX-License-Identifier: Apache-2.0
// A Worker for pages that are opened from the disk, where browsers refuse real ones: the script runs in a hidden frame instead.
// The search of the site asks for the name IFrameWorker (mkdocs-material). Pages from a server keep the real Worker.
(() => {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      this.waiting = [];  // messages that came before the script was loaded
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      this.scope = this.frame.contentWindow;
      this.scope.postMessage = data => setTimeout(() => this.tell(new MessageEvent("message", {data})));
      this.scope.importScripts = (...urls) => urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve());
      this.load(url).then(() => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach(data => this.postMessage(data));
      }, () => this.tell(new ErrorEvent("error", {filename: url})));
    }

    load(url) {
      return new Promise((loaded, failed) => {
        const script = this.scope.document.createElement("script");
        script.src = new URL(url, location);
        script.onload = loaded;
        script.onerror = failed;
        this.scope.document.body.appendChild(script);
      });
    }

    tell(event) {
      this.dispatchEvent(event);
      const handler = this[`on${event.type}`];
      if (handler) handler.call(this, event);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else setTimeout(() => this.scope.dispatchEvent(new this.scope.MessageEvent("message", {data})));
    }

    terminate() { this.frame.remove(); }
  }

  if (location.protocol === "file:") window.IFrameWorker = window.Worker = IFrameWorker;
})();
