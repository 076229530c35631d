BEGIN TRANSACTION;
CREATE TABLE xstar_events (
	study INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	schema INTEGER NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	token TEXT, 
	PRIMARY KEY (study, seq), 
	FOREIGN KEY(study) REFERENCES xstar_studies (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "xstar_events" VALUES(1,0,3,'created','{"space":{"parameters":[["lr",{"kind":"float","low":0.0001,"high":0.1,"log":true}],["layers",{"kind":"int","low":1,"high":3,"log":false}],["optimizer",{"kind":"choice","options":["sgd","adam"]}],["momentum",{"kind":"float","low":0.0,"high":1.0,"log":false,"when":{"optimizer":{"in":["sgd"]}}}],["mask",{"kind":"bits","n":4}]]},"metric":"value","direction":"minimize","seed":5,"searcher":{"name":"random"},"scheduler":{"name":"fifo","max_budget":3},"retries":1,"files":"kept-f86140","at":1700000000.0,"version":"0.1.0.dev0"}',NULL);
INSERT INTO "xstar_events" VALUES(1,1,3,'enqueued','{"config":{"lr":0.01,"layers":2,"optimizer":"adam","mask":"0110"},"at":1700000004.0}','0a3c4c5b7632-0');
INSERT INTO "xstar_events" VALUES(1,2,3,'added','{"trial":0,"config":{"lr":0.02,"layers":1,"optimizer":"sgd","momentum":0.9,"mask":"1111"},"metrics":{"value":0.75},"at":1700000005.0,"budget":3}','0a3c4c5b7632-1');
INSERT INTO "xstar_events" VALUES(1,3,3,'asked','{"trial":1,"config":{"lr":0.01,"layers":2,"optimizer":"adam","mask":"0110"},"origin":{"method":"enqueued","detail":"number {number}","numbers":{"number":1}},"seen":3,"at":1700000007.0,"budget":3,"queued":0}','0a3c4c5b7632-2');
INSERT INTO "xstar_events" VALUES(1,4,3,'reported','{"trial":1,"budget":3,"metrics":{"value":0.01},"at":1700000008.0,"final":true,"seen":4}','0a3c4c5b7632-3');
INSERT INTO "xstar_events" VALUES(1,5,3,'asked','{"trial":2,"config":{"lr":0.0006262846653338376,"layers":2,"optimizer":"sgd","momentum":0.610862471207977,"mask":"1110"},"origin":"random","seen":5,"at":1700000010.0,"budget":3}','0a3c4c5b7632-4');
INSERT INTO "xstar_events" VALUES(1,6,3,'reported','{"trial":2,"budget":1,"metrics":{"value":1.0,"other":"inf"},"at":1700000011.0,"seen":6}','0a3c4c5b7632-5');
INSERT INTO "xstar_events" VALUES(1,7,3,'reported','{"trial":2,"budget":2,"metrics":{"value":0.5,"other":"inf"},"at":1700000012.0,"seen":7}','0a3c4c5b7632-6');
INSERT INTO "xstar_events" VALUES(1,8,3,'reported','{"trial":2,"budget":3,"metrics":{"value":0.3333333333333333,"other":"inf"},"at":1700000013.0,"final":true,"seen":8}','0a3c4c5b7632-7');
INSERT INTO "xstar_events" VALUES(1,9,3,'asked','{"trial":3,"config":{"lr":0.00020294222847482904,"layers":3,"optimizer":"adam","mask":"1101"},"origin":"random","seen":9,"at":1700000015.0,"budget":3}','0a3c4c5b7632-8');
INSERT INTO "xstar_events" VALUES(1,10,3,'failed','{"trial":3,"kind":"exception","reason":"a reason","at":1700000016.0}','0a3c4c5b7632-9');
INSERT INTO "xstar_events" VALUES(1,11,3,'asked','{"trial":4,"config":{"lr":0.03200631312931177,"layers":2,"optimizer":"adam","mask":"0010"},"origin":"random","seen":11,"at":1700000019.0,"budget":3}','0a3c4c5b7632-10');
INSERT INTO "xstar_events" VALUES(1,12,3,'failed','{"trial":4,"kind":"nan","reason":"value is nan at budget 1","at":1700000020.0}','0a3c4c5b7632-11');
INSERT INTO "xstar_events" VALUES(1,13,3,'asked','{"trial":5,"config":{"lr":0.0033326374451136255,"layers":1,"optimizer":"sgd","momentum":0.6108955388985792,"mask":"1010"},"origin":"random","seen":13,"at":1700000022.0,"budget":3}','0a3c4c5b7632-12');
INSERT INTO "xstar_events" VALUES(1,14,3,'failed','{"trial":5,"kind":"infeasible","reason":"a reason","at":1700000023.0}','0a3c4c5b7632-13');
INSERT INTO "xstar_events" VALUES(1,15,3,'asked','{"trial":6,"config":{"lr":0.046703061212635066,"layers":2,"optimizer":"sgd","momentum":0.28024522779250605,"mask":"0010"},"origin":"random","seen":15,"at":1700000025.0,"budget":3}','0a3c4c5b7632-14');
INSERT INTO "xstar_events" VALUES(1,16,3,'failed','{"trial":6,"kind":"killed","reason":"signal 9","at":1700000026.0}','0a3c4c5b7632-15');
INSERT INTO "xstar_events" VALUES(1,17,3,'started','{"trial":6,"attempt":1,"seen":17,"at":1700000028.0,"budget":3}','0a3c4c5b7632-16');
INSERT INTO "xstar_events" VALUES(1,18,3,'reported','{"trial":6,"budget":3,"metrics":{"value":0.046703061212635066},"at":1700000029.0,"attempt":1,"final":true,"seen":18}','0a3c4c5b7632-17');
INSERT INTO "xstar_events" VALUES(1,19,3,'asked','{"trial":7,"config":{"lr":0.00016688321782055014,"layers":2,"optimizer":"adam","mask":"0011"},"origin":"random","seen":19,"at":1700000031.0,"budget":3}','0a3c4c5b7632-18');
INSERT INTO "xstar_events" VALUES(1,20,3,'reported','{"trial":7,"budget":3,"metrics":{"value":0.00016688321782055014},"at":1700000032.0,"final":true,"seen":20}','0a3c4c5b7632-19');
CREATE TABLE xstar_leases (
	study INTEGER NOT NULL, 
	trial INTEGER NOT NULL, 
	holder TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	attempt INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (study, trial), 
	FOREIGN KEY(study) REFERENCES xstar_studies (id) ON DELETE CASCADE
);
CREATE TABLE xstar_meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "xstar_meta" VALUES('format','2');
CREATE TABLE xstar_studies (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	events INTEGER DEFAULT '0' NOT NULL, 
	claims INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "xstar_studies" VALUES(1,'kept',21,9);
COMMIT;
