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
INSERT INTO "xstar_events" VALUES(1,0,4,'created','{"space":{"parameters":[["lr",{"kind":"float","low":0.0001,"high":0.1,"log":true}],["layers",{"kind":"int","low":1,"high":3,"log":false}],["optimizer",{"kind":"choice","options":["sgd","adam"]}],["momentum",{"kind":"float","low":0.0,"high":1.0,"log":false,"when":{"optimizer":{"in":["sgd"]}}}],["mask",{"kind":"bits","n":4}]]},"metric":"value","direction":"minimize","seed":5,"searcher":{"name":"gp","initial":null,"middle":true,"surrogate":"matern-warped","shape":"matern52","structure":"evidence","warp":false,"straighten":true,"samples":0,"starts":1,"acquisition":"ei","explore_every":4,"cautious":true,"exhausted":0.125,"exact":true,"pending":"fantasies","fantasies":20,"most_pending":256,"acquire_at":"full","refit":"growth","limit":500,"prior_weight":30.0,"prior_trust":"learned","trust_at":"comparable"},"scheduler":{"name":"asha","max_budget":3,"min_budget":null,"eta":3,"levels":null,"brackets":1,"last_rung":"best","ladder":"top"},"retries":1,"files":"kept-1ebcee","at":1700000000.0,"version":"0.1.0.dev0","method":"mobster","why":"with max_budget=3 bad trials can end early, and a Gaussian process learns from all of them"}',NULL);
INSERT INTO "xstar_events" VALUES(1,1,4,'enqueued','{"config":{"lr":0.01,"layers":2,"optimizer":"adam","mask":"0110"},"at":1700000005.0}','18dcba484e0e-0');
INSERT INTO "xstar_events" VALUES(1,2,4,'added','{"trial":0,"config":{"lr":0.02,"layers":1,"optimizer":"sgd","momentum":0.9,"mask":"1111"},"metrics":{"value":0.75},"at":1700000006.0,"budget":3}','18dcba484e0e-1');
INSERT INTO "xstar_events" VALUES(1,3,4,'asked','{"trial":1,"config":{"lr":0.01,"layers":2,"optimizer":"adam","mask":"0110"},"origin":{"method":"enqueued","detail":"number {number}","numbers":{"number":1}},"seen":3,"at":1700000008.0,"budget":1,"queued":0}','18dcba484e0e-2');
INSERT INTO "xstar_events" VALUES(1,4,4,'reported','{"trial":1,"budget":1,"metrics":{"value":0.01},"at":1700000011.0,"final":true,"seen":4}','18dcba484e0e-3');
INSERT INTO "xstar_events" VALUES(1,5,4,'asked','{"trial":2,"config":{"lr":0.0008058748371867795,"layers":3,"optimizer":"sgd","momentum":0.49144184589385986,"mask":"1110"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 2","numbers":{"trial":3}},"seen":5,"at":1700000013.0,"budget":1}','18dcba484e0e-4');
INSERT INTO "xstar_events" VALUES(1,6,4,'reported','{"trial":2,"budget":1,"metrics":{"value":1.0,"other":"inf"},"at":1700000015.0,"verdict":"pause","seen":6}','18dcba484e0e-5');
INSERT INTO "xstar_events" VALUES(1,7,4,'asked','{"trial":3,"config":{"lr":0.03219409845209367,"layers":2,"optimizer":"adam","mask":"0001"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 3","numbers":{"trial":4}},"seen":7,"at":1700000017.0,"budget":1}','18dcba484e0e-6');
INSERT INTO "xstar_events" VALUES(1,8,4,'failed','{"trial":3,"kind":"exception","reason":"a reason","at":1700000019.0}','18dcba484e0e-7');
INSERT INTO "xstar_events" VALUES(1,9,4,'asked','{"trial":4,"config":{"lr":0.05480631444205853,"layers":3,"optimizer":"adam","mask":"0010"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 4","numbers":{"trial":5}},"seen":9,"at":1700000023.0,"budget":1}','18dcba484e0e-8');
INSERT INTO "xstar_events" VALUES(1,10,4,'failed','{"trial":4,"kind":"nan","reason":"value is nan at budget 1","at":1700000025.0}','18dcba484e0e-9');
INSERT INTO "xstar_events" VALUES(1,11,4,'asked','{"trial":5,"config":{"lr":0.0021159609260677156,"layers":1,"optimizer":"sgd","momentum":0.2750732218846679,"mask":"1101"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 5","numbers":{"trial":6}},"seen":11,"at":1700000027.0,"budget":1}','18dcba484e0e-10');
INSERT INTO "xstar_events" VALUES(1,12,4,'failed','{"trial":5,"kind":"infeasible","reason":"a reason","at":1700000029.0}','18dcba484e0e-11');
INSERT INTO "xstar_events" VALUES(1,13,4,'asked','{"trial":6,"config":{"lr":0.00017533783114010985,"layers":2,"optimizer":"adam","mask":"1111"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 6","numbers":{"trial":7}},"seen":13,"at":1700000031.0,"budget":1}','18dcba484e0e-12');
INSERT INTO "xstar_events" VALUES(1,14,4,'failed','{"trial":6,"kind":"killed","reason":"signal 9","at":1700000033.0}','18dcba484e0e-13');
INSERT INTO "xstar_events" VALUES(1,15,4,'started','{"trial":6,"attempt":1,"seen":15,"at":1700000035.0,"budget":1}','18dcba484e0e-14');
INSERT INTO "xstar_events" VALUES(1,16,4,'reported','{"trial":6,"budget":1,"metrics":{"value":0.00017533783114010985},"at":1700000038.0,"attempt":1,"final":true,"seen":16}','18dcba484e0e-15');
INSERT INTO "xstar_events" VALUES(1,17,4,'asked','{"trial":7,"config":{"lr":0.004418248653043884,"layers":1,"optimizer":"sgd","momentum":0.12041429709643126,"mask":"0000"},"origin":{"method":"gp","detail":"initial {trial}, sobol: point 7","numbers":{"trial":8}},"seen":17,"at":1700000042.0,"budget":1}','18dcba484e0e-16');
INSERT INTO "xstar_events" VALUES(1,18,4,'reported','{"trial":7,"budget":1,"metrics":{"value":0.004418248653043884},"at":1700000045.0,"final":true,"seen":18}','18dcba484e0e-17');
CREATE TABLE xstar_fits (
	study INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (study, name), 
	FOREIGN KEY(study) REFERENCES xstar_studies (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
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
INSERT INTO "xstar_meta" VALUES('format','3');
CREATE TABLE xstar_studies (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	events INTEGER DEFAULT '0' NOT NULL, 
	claims INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "xstar_studies" VALUES(1,'kept',19,9);
COMMIT;
